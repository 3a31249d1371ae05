/** The page: navigation, the screen of the address, and what is said about the session. */

import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, Icon } from "./kit/copy.tsx";
import { Dialog } from "./kit/dialog.tsx";
import { Empty, Said, Waiting } from "./kit/feedback.tsx";
import { link, place } from "./kit/router.ts";
import { ActionHost } from "./parts/actions.tsx";
import { whoMay } from "./parts/operation.tsx";
import { can, hasEnded, isOutdated, loadSession, session, signOut } from "./parts/session.ts";
import { NAVIGATION, SCREENS } from "./screens/routes.tsx";
import { SignInForm, SignInPage } from "./screens/sign_in.tsx";
import { InvitePage } from "./screens/users.tsx";
import { text } from "./texts/text.ts";

function Page() {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (session.value !== undefined) return;
    const load = () =>
      loadSession().then(
        () => setAway(false),
        () => setAway(true),
      );
    void load();
    const timer = setInterval(() => session.value === undefined && void load(), 5_000);
    return () => clearInterval(timer);
  }, []);
  const [first, token] = place.value.parts;
  // An invite is accepted before one can sign in, and also while somebody else is signed in.
  if (first === "invite" && token) return <InvitePage key={token} token={token} />;
  const current = session.value;
  if (current === undefined) {
    return <main id="main">{isAway ? <Empty title={text("error.no_answer")} /> : <Waiting />}</main>;
  }
  if (current === null) return <SignInPage />;
  return (
    <>
      <Button label={text("nav.skip")} class="skip" onClick={() => document.getElementById("main")?.focus()} />
      <Navigation />
      {isOutdated.value && (
        <div class="banner" role="status">
          {text("session.new_version")}{" "}
          <Button label={text("session.reload")} isSmall onClick={() => location.reload()} />
        </div>
      )}
      <main id="main" tabIndex={-1}>
        <Said />
        <CurrentScreen />
        <ActionHost />
      </main>
      {hasEnded.value && (
        <Dialog title={text("session.ended")} onClose={() => {}} isFixed>
          <p>{text("session.ended_help")}</p>
          <SignInForm />
        </Dialog>
      )}
    </>
  );
}

function CurrentScreen() {
  const [first = "", ...rest] = place.value.parts;
  const screen = SCREENS[first];
  useEffect(() => {
    document.title = `${screen ? text(screen.title) : text("nav.nothing_here")} · Headgate`;
  }, [screen]);
  if (!screen) return <Empty title={text("nav.nothing_here")} leads={[link([]), text("nav.now")]} />;
  if (!session.value?.permissions.length && first !== "account") {
    return <Empty title={text("account.factor_first")} leads={[link(["account"]), text("nav.account")]} />;
  }
  if (screen.needs && !can(screen.needs)) {
    return (
      <>
        <h1>{text(screen.title)}</h1>
        <Empty title={text("access.denied")} help={whoMay(screen.needs)} />
      </>
    );
  }
  const Shown = rest.length && screen.detail ? screen.detail : screen.list;
  return <Shown key={place.value.parts.join("/")} rest={rest} />;
}

function Navigation() {
  const [isOpen, open] = useState(false);
  const first = place.value.parts[0] ?? "";
  useEffect(() => open(false), [place.value]);
  return (
    <header class="top">
      <a class="brand" href={link([])}>
        Headgate
      </a>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => open(!isOpen)}
      >
        <Icon name="menu" /> {text("nav.menu")}
      </button>
      <nav id="navigation" class={isOpen ? "is-open" : ""} aria-label={text("nav.label")}>
        {NAVIGATION.map(([title, names]) => (
          <ul key={title} aria-label={text(title)}>
            {names.filter(isAllowed).map((name) => (
              <li key={name}>
                <a href={link(name ? [name] : [])} aria-current={first === name ? "page" : undefined}>
                  {text(SCREENS[name]?.title ?? "nav.now")}
                </a>
              </li>
            ))}
          </ul>
        ))}
        <div class="person">
          <span>{session.value?.user.email}</span>
          <Button label={text("session.sign_out")} isSmall onClick={() => void signOut()} />
        </div>
      </nav>
    </header>
  );
}

function isAllowed(name: string): boolean {
  const needs = SCREENS[name]?.needs;
  return !needs || can(needs);
}

/** What had the focus last, and what it was in. */
let focused: readonly EventTarget[] = [];
document.addEventListener("focusin", (event) => {
  focused = event.composedPath();
});

/** Where what had the focus is gone, the focus goes to what it was in: it must not be nowhere. */
function keepFocus(): void {
  const [last] = focused;
  if (document.activeElement !== document.body || !(last instanceof Node) || last.isConnected) return;
  const near = focused.find((one) => one instanceof HTMLElement && one.isConnected && one.hasAttribute("tabindex"));
  ((near as HTMLElement | undefined) ?? document.getElementById("main"))?.focus();
}

const root = document.getElementById("root");
if (root) {
  render(<Page />, root);
  new MutationObserver(keepFocus).observe(root, { childList: true, subtree: true });
}
effect(() => {
  // The focus follows to a new screen, so that a screen reader says where one is.
  const path = place.value.parts.join("/");
  const main = document.getElementById("main");
  if (main && main.dataset.path !== undefined && main.dataset.path !== path) main.focus();
  if (main) main.dataset.path = path;
});
