/* The search of these pages, opened from a disk: a browser starts no worker from a file, so the
   worker's script runs in a hidden frame instead. Messages are copied, as between a page and its
   worker: each side changes its own. From a server nothing is changed. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) =>
        this.tell(new MessageEvent("message", { data: structuredClone(data) }));
      const script = inner.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      script.onload = () => {
        const { waiting } = this;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      script.onerror = () => this.tell(new Event("error"));
      inner.document.body.append(script);
    }

    tell(event) {
      setTimeout(() => {
        this["on" + event.type]?.(event);
        this.dispatchEvent(event);
      });
    }

    postMessage(given) {
      const data = structuredClone(given);
      if (this.waiting) {
        this.waiting.push(data);
        return;
      }
      const inner = this.frame.contentWindow;
      setTimeout(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
