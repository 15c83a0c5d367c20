// One wish to make a thing, however often it has to be sent: the same body goes under the same Idempotency-Key until the
// gateway has said what became of it.
import { post, type Answer, type Ask } from "./call";
import { ApiProblem } from "./problem";

export class Intent {
  private body = "";
  private key = "";

  async post<T>(path: string, body: unknown, ask: Ask = {}): Promise<Answer<T>> {
    try {
      const answer = await post<T>(path, body, { ...ask, idempotencyKey: this.keyFor(path, body) });
      this.key = "";
      return answer;
    } catch (thrown) {
      if (thrown instanceof ApiProblem && thrown.settled) this.key = "";
      throw thrown;
    }
  }

  private keyFor(path: string, body: unknown): string {
    const wish = `${path} ${JSON.stringify(body)}`;
    if (this.key === "" || wish !== this.body) this.key = randomKey();
    this.body = wish;
    return this.key;
  }
}

// Not crypto.randomUUID: a console in a private network may be served over plain http, where that is missing.
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
