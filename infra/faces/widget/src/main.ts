import { KnowledgeSearch } from "./element";

const NAME = "knowledge-search";

// A page may hold the script twice: the first one stays.
if (!customElements.get(NAME)) customElements.define(NAME, KnowledgeSearch);
