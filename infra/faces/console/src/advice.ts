// What an operator can do about a problem. The gateway's own words come first; these say what to do in the console.
import type { ApiProblem } from "./problem";

const BY_CODE: Record<string, string> = {
  offline: "The gateway cannot be reached from this browser. Look at your connection, then try again.",
  no_answer: "No answer came in time. A change may have been made all the same: read it again before you repeat it.",
  unreadable_answer:
    "It broke off, or is not what the gateway answers with. A change may have been made all the same: read it again before you repeat it.",
  not_shown: "Try again. If it stays, load the page anew: it may be older than the gateway.",
  test_required: "Open its test, and have the test turn it on.",
  rotation_pending: "Wait for the window to end, or say that the secret in its window may be dropped.",
  risk_not_acknowledged: "Say below whether you accept that, and send it again.",
  test_failed: "Put right what the server complained of, and send it again.",
  name_taken: "Choose another name.",
  last_admin: "Make another admin credential first.",
};

const BY_STATUS: Record<number, string> = {
  401: "Sign in with an admin token that is valid now.",
  403: "This credential may not do that. Sign in with an admin token.",
  404: "It may have been deleted meanwhile. Go back to the list.",
  409: "As things stand now it cannot be done. Read it again before you repeat it.",
  412: "Somebody changed it after you had read it. Read it again, look at what is different, and repeat your change.",
  413: "Send less.",
  422: "Correct the fields that are marked, and send it again.",
  428: "Read it again, and repeat your change.",
  500: "Try again. If it stays, look up the request id in the logs.",
};

export function adviceOn(problem: ApiProblem): string {
  const wait = problem.retryAfterS;
  if (problem.status === 429 || problem.status === 503) {
    const nothing = problem.status === 503 ? "Nothing was changed. " : "";
    return `${nothing}Try again ${wait === null ? "a little later" : `in ${wait} s`}.`;
  }
  return BY_CODE[problem.code] ?? BY_STATUS[problem.status] ?? "Try again later.";
}
