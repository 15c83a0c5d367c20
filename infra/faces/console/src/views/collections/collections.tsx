import type { ViewProps } from "../../views";
import { Page } from "../../kit";
export function CardsView(_: ViewProps) { return <Page title="Cards"><p /></Page>; }
