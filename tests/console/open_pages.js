// Lets virtual time pass in a page, and reads what it says of pipelines and deliveries. It runs before the clock of the
// page is replaced, so that it waits in real time; `__pwClock` is what `page.clock` moves.
(() => {
  const DRAWN = 20; // milliseconds of the page's clock after which an answer has been drawn
  const wait = window.setTimeout.bind(window);
  const send = window.fetch.bind(window);
  const read = Response.prototype.text;
  let open = 0;
  let ahead = 0;

  window.fetch = async (...request) => {
    open += 1;
    try {
      return await send(...request);
    } catch (error) {
      open -= 1;
      throw error;
    }
  };
  Response.prototype.text = async function () {
    try {
      return await read.call(this);
    } finally {
      open -= 1;
    }
  };

  const text = (element) => (element?.textContent ?? "").trim();
  const said = (link, root, isWarned) => ({
    path: link.getAttribute("href").split("#/")[1],
    word: text(root.querySelector("strong")),
    age: text(root.querySelector(".age")),
    isWarned,
  });
  const each = (selector, root = document) => [...root.querySelectorAll(selector)];
  const RUNS = "a[href*='#/pipelines/'], a[href*='#/deliveries/']";

  const rows = () =>
    each("main tbody tr").map((row) => said(row.querySelector(RUNS), row.querySelector(".state"), text(row.cells[2]) !== ""));
  const head = () => {
    const here = { getAttribute: () => `${location.hash}/status` };
    return each("dl.pairs").flatMap((pairs) =>
      each(".state", pairs).map((state) => said(here, state, each(".reasons li").length > 0)));
  };
  const boxes = () =>
    each(".flow > li").flatMap((box) =>
      each(RUNS, box).map((link) => said(link, link.parentElement.querySelector(".state"), !!link.parentElement.querySelector(".reason"))));
  const counts = () =>
    each(".counts a.state")
      .map((one) => [one.getAttribute("href").split(/[/?]/)[1], text(one)])
      .filter(([kind]) => kind === "pipelines" || kind === "deliveries");
  const frame = () => ({
    states: [...rows(), ...head(), ...boxes()],
    counts: counts(),
    cards: each(".cards > li").length,
    isWarned: each(".banner.warn").length > 0,
  });

  /** Seconds until it asks for something, at most so many: the frame of each, the last one without what it asks for. */
  window.__pass = async (seconds) => {
    const frames = [];
    while (frames.length < seconds && !open) {
      await window.__pwClock.controller.runFor(1_000 - ahead);
      ahead = 0;
      frames.push(frame());
    }
    return { frames, isAsking: open > 0 };
  };

  /** The frame after all answers have come. */
  window.__settle = async () => {
    do {
      while (open) await new Promise((done) => wait(done, 1));
      await window.__pwClock.controller.runFor(DRAWN);
      ahead += DRAWN;
    } while (open);
    return frame();
  };
})();
