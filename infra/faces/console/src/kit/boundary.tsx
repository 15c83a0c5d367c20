import { Component, type ComponentChildren } from "preact";
import { ApiProblem } from "../problem";
import { href } from "../router";
import { Page } from "./page";
import { ProblemBox } from "./problem";

const PROBLEM = new ApiProblem({
  status: 0,
  code: "not_shown",
  title: "This view cannot be shown",
  detail: "What the gateway answered is of another shape than this page knows, or the page has a fault.",
});

interface Props {
  children: ComponentChildren;
}

/** The last resort of a view: instead of an empty page, what has happened and the way out. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  override componentDidCatch(thrown: unknown): void {
    reportError(thrown);
    this.setState({ failed: true });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Page title="Not shown">
        <ProblemBox of={PROBLEM} onRetry={() => this.setState({ failed: false })}>
          <p>
            Or go to <a href={href("health")}>health</a>.
          </p>
        </ProblemBox>
      </Page>
    );
  }
}
