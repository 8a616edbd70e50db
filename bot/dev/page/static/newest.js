// The way down to what came last, for who reads further up.
import { atBottom, toBottom, typesAtOnce } from "./dom.js";

// Below the messages, where it covers none of them.
export function offerNewest(scroller) {
  const foot = scroller.nextElementSibling;
  if (foot.querySelector(".new-below")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip new-below";
  button.dataset.local = "";
  button.textContent = "New messages ↓";
  scroller.onscroll = () => atBottom(scroller) && button.remove();
  button.addEventListener("click", () => {
    toBottom(scroller);
    button.remove();
    if (typesAtOnce()) foot.querySelector("textarea")?.focus();
  });
  foot.prepend(button);
}
