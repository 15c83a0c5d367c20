import { render } from "preact";
import { Console } from "./shell/console";

const place = document.getElementById("console");
if (place) render(<Console />, place);
