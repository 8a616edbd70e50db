// The socket that brings changes; opens again by itself, then asks for everything anew.

import { ownName } from "./server.js";

export class Live {
  constructor(onOperations, onAgain, onLost) {
    this.onOperations = onOperations;
    this.onAgain = onAgain;
    this.onLost = onLost;
    this.tries = 0;
    this.showing = {};
  }

  connect(user) {
    this.user = user;
    this.socket?.close();
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
    const socket = new WebSocket(`ws://${location.host}/page/live?${new URLSearchParams({ user, zone, window: ownName, ...this.showing })}`);
    this.socket = socket;
    socket.addEventListener("open", () => {
      if (this.tries > 0) this.onAgain();
      this.tries = 0;
      this.onLost(false);
      this.watch();
    });
    socket.addEventListener("message", (event) => this.onOperations(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (this.socket !== socket) return;
      this.tries += 1;
      if (this.tries > 1) this.onLost(true);
      setTimeout(() => this.socket === socket && this.connect(this.user), Math.min(250 * 2 ** this.tries, 5000));
    });
  }

  // Tell the server what is on the screen: { channel, thread, tab }. Of what is fetched `anew` the
  // server says from which change on it watches.
  watch(showing = this.showing, anew = false) {
    this.showing = showing;
    const told = { ...showing, ...(anew && { anew: "true" }) };
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(told));
  }
}
