// Collections that were deleted while somebody was signed in. The gateway itself shows nothing of them any more.
import { signedIn } from "../../session";
import { store } from "../../store";

export interface Gone {
  id: string;
  name: string;
  cards: number;
}

export const gone = store<Gone[]>([]);

signedIn.watch(() => {
  if (!signedIn.get()) gone.set([]);
});
