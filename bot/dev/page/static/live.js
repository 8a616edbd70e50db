// The socket that brings changes. It reconnects by itself.
import { user } from "./server.js";

export class Live {
  // onOperations(list), onConnected(): changes before it may have been missed, onLost(isLost)
  constructor({ onOperations, onConnected, onLost }) {
    Object.assign(this, { onOperations, onConnected, onLost });
    this.failures = 0;
    this.confirmations = []; // one callback for each `watch` that the server has not confirmed
  }

  connect(showing) {
    this.showing = showing;
    this.confirm();
    this.socket?.close();
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
    const socket = new WebSocket(`ws://${location.host}/page/live?${new URLSearchParams({ user: user(), zone, ...showing })}`);
    this.socket = socket;
    socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (this.socket !== socket) return;
      this.failures += 1;
      this.confirm();
      if (this.failures > 1) this.onLost(true);
      setTimeout(() => this.socket === socket && this.connect(this.showing), Math.min(250 * 2 ** this.failures, 5000));
    });
  }

  receive(operations) {
    for (const { op } of operations) {
      if (op === "connected") {
        this.failures = 0;
        this.onLost(false);
        this.onConnected();
      } else if (op === "watching") this.confirmations.shift()?.();
    }
    this.onOperations(operations);
  }

  // Tell the server what is on the screen: { channel, thread, tab }. Resolves when the server sends
  // the changes of that place.
  watch(showing) {
    this.showing = showing;
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.resolve();
    this.socket.send(JSON.stringify(showing));
    return new Promise((resolve) => this.confirmations.push(resolve));
  }

  confirm() {
    for (const resolve of this.confirmations.splice(0)) resolve();
  }
}
