import { useEffect } from "preact/hooks";
import { modals, unsayAll } from "../announce";
import { Boundary } from "../kit";
import { useRoute } from "../router";
import { signedIn } from "../session";
import { useStore } from "../store";
import { VIEWS } from "../views";
import { Header } from "./header";
import { Nowhere } from "./nowhere";
import { SignIn } from "./sign_in";
import { Status } from "./status";

export function Console() {
  const inside = useStore(signedIn);
  const open = useStore(modals);
  useEffect(() => {
    if (!inside) unsayAll();
  }, [inside]);
  return (
    <>
      {inside ? <Inside /> : <SignIn />}
      {open === 0 && <Status />}
    </>
  );
}

function Inside() {
  const route = useRoute();
  const name = route.view || VIEWS[0]?.path;
  const view = VIEWS.find((one) => one.path === name);
  // The key makes a new view of another thing: what was read and typed for one never shows for the next.
  const key = [name, ...route.rest].join("/");
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Header current={view?.path ?? ""} />
      <main id="main" tabIndex={-1}>
        {view ? (
          <Boundary key={key}>
            <view.view rest={route.rest} query={route.query} />
          </Boundary>
        ) : (
          <Nowhere key={key} />
        )}
      </main>
    </div>
  );
}

// The address after # is the route, so the link itself must not be followed.
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
