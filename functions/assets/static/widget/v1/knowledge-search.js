customElements.define("knowledge-search",class extends HTMLElement{});
