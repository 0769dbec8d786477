// The operator's inputs on the page: buttons, keys, gamepads and 3-D mice, sent to the server over a socket of their own.
// They have an effect only while the tab Jog is open. A tap is one step; an input that is held moves the tip continuously.
(() => {
  "use strict";
  const PAD = '[data-arcreach="jog"]';
  const TYPED = 'input:not([type="checkbox"]), textarea';
  const TAP = 200; // milliseconds
  const PERIOD = 50; // milliseconds between two messages while something is held
  // Axis and sign of a key; with Shift it turns about the axis.
  const KEYS = {
    KeyJ: [0, -1], KeyL: [0, 1], KeyK: [1, -1], KeyI: [1, 1], KeyU: [2, -1], KeyO: [2, 1],
  };
  const pressed = new Map(); // key or pointer: {axis, sign, since, moved}
  let socket = null;
  let silent = true;

  const open = () => {
    const pad = document.querySelector(PAD);
    return pad !== null && pad.offsetParent !== null;
  };
  const send = (message) => {
    if (socket !== null && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const connect = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/jog`);
    socket.onclose = () => setTimeout(connect, 1000);
  };

  const press = (name, axis, sign) => {
    if (!pressed.has(name)) pressed.set(name, { axis, sign, since: performance.now(), moved: false });
  };
  const release = (name) => {
    const entry = pressed.get(name);
    if (entry === undefined) return;
    pressed.delete(name);
    // A busy page may handle a release late: an input that has not moved the tip is a tap, however long it took.
    if (!entry.moved) {
      const step = [0, 0, 0, 0, 0, 0];
      step[entry.axis] = entry.sign;
      send({ step });
    }
  };

  document.addEventListener("pointerdown", (event) => {
    const button = event.target instanceof Element ? event.target.closest(`${PAD} [data-axis]`) : null;
    if (button === null || event.button !== 0) return;
    event.preventDefault();
    // A field that has the focus would take the keys.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    press(event.pointerId, Number(button.dataset.axis), Number(button.dataset.sign));
  });
  window.addEventListener("pointerup", (event) => release(event.pointerId));
  window.addEventListener("pointercancel", (event) => pressed.delete(event.pointerId));
  document.addEventListener("contextmenu", (event) => {
    // A long press on a phone opens it.
    if (event.target instanceof Element && event.target.closest(PAD) !== null) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const key = KEYS[event.code];
    const typing = event.target instanceof Element && event.target.closest(TYPED) !== null;
    if (key === undefined || typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !open()) return;
    press(event.code, key[0] + (event.shiftKey ? 3 : 0), key[1]);
  });
  document.addEventListener("keyup", (event) => release(event.code));
  window.addEventListener("blur", () => pressed.clear());

  setInterval(() => {
    if (!open()) {
      pressed.clear();
    }
    const held = [0, 0, 0, 0, 0, 0];
    const now = performance.now();
    for (const entry of pressed.values()) {
      if (now - entry.since < TAP) continue;
      held[entry.axis] += entry.sign;
      entry.moved = true;
    }
    const pads = open() ? Array.from(navigator.getGamepads()).filter((pad) => pad !== null && pad.connected) : [];
    const idle = pads.length === 0 && held.every((value) => value === 0);
    // The last message before silence reports that everything was released.
    if (idle && silent) return;
    silent = idle;
    send({
      held,
      pads: pads.map((pad) => ({
        id: pad.id,
        mapping: pad.mapping,
        axes: Array.from(pad.axes),
        buttons: pad.buttons.map((button) => button.value),
      })),
    });
  }, PERIOD);
  connect();
})();
