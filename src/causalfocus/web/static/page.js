// Follows the campaign while the page is open, and sends forms without leaving it.
"use strict";

const here = new URL(location.href);
const view = { id: here.searchParams.get("id"), search: here.searchParams.get("search") || "", page: here.searchParams.get("page") || "1" };
let seen = null;
let asking = 0;
const shownParts = {};
const loadedParts = {};
for (const place of document.querySelectorAll("[id^=part-]")) loadedParts[place.id] = place.innerHTML;
let sayNothingAfter = 0;

function say(text) {
  const place = document.getElementById("said");
  place.textContent = text;
  clearTimeout(sayNothingAfter);
  sayNothingAfter = setTimeout(() => { place.textContent = ""; }, 5000);
}

function showErrors(form, errors) {
  let first = null;
  for (const place of form.querySelectorAll("[data-error]")) {
    const message = errors[place.dataset.error] || "";
    place.textContent = message;
    const input = place.dataset.error && form.elements.namedItem(place.dataset.error);
    if (input) {
      if (message) { input.setAttribute("aria-invalid", "true"); first = first || input; }
      else input.removeAttribute("aria-invalid");
    }
  }
  const known = new Set([...form.querySelectorAll("[data-error]")].map((place) => place.dataset.error));
  const rest = Object.keys(errors).filter((name) => !known.has(name)).map((name) => errors[name]);
  if (rest.length) say(rest.join(" "));
  if (first) first.focus();
}

async function refresh() {
  const mine = ++asking;
  const query = new URLSearchParams({ search: view.search, page: view.page });
  if (view.id) query.set("id", view.id);
  const answer = await fetch("/parts?" + query, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const found = await answer.json();
  if (found.seq < 0 || mine !== asking) return;  // a later question is on its way
  if (!document.getElementById("part-state")) { location.reload(); return; }
  seen = found.seq;
  for (const [name, text] of Object.entries(found.parts)) {
    const place = document.getElementById("part-" + name);
    if (!place) continue;  // what only some rules show
    if (shownParts[name] === text || isAsLoaded(place, name, text) || place.querySelector("[data-sending]")) continue;
    if (name === "next" && isBusy(place, found.asked)) continue;
    if (name === "next") saveTyped(place, found.asked);
    shownParts[name] = text;
    replace(place, text);
  }
}

// What the page was loaded with is not put there again: a click on it may be under way.
function isAsLoaded(place, name, text) {
  if (name in shownParts) return false;
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  if (fresh.innerHTML !== loadedParts[place.id]) return false;
  shownParts[name] = text;
  return true;
}

// The open parts stay open, boxes stay scrolled, and the keyboard stays where it was.
function replace(place, text) {
  const open = [...place.querySelectorAll("details")].map((one) => one.open);
  const scrolled = [...place.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
  const who = place.querySelector("#who") ? place.querySelector("#who").value : "";
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  const kind = active && active.tagName;
  const same = (one) => one.id ? one.id === active.id : one.textContent === active.textContent;
  place.innerHTML = text;
  place.querySelectorAll("details").forEach((one, i) => { if (open[i]) one.open = true; });
  place.querySelectorAll(".scroll").forEach((box, i) => { if (scrolled[i]) [box.scrollLeft, box.scrollTop] = scrolled[i]; });
  if (who && place.querySelector("#who")) place.querySelector("#who").value = who;
  if (active) {
    const again = [...place.querySelectorAll(kind)].find(same) || place.querySelector("a, button, input:not([type=hidden]), summary");
    if (again) again.focus({ preventScroll: true });
  }
}

function typed(place) {
  return [...place.querySelectorAll("input:not([type=hidden])")].filter((input) => input.id !== "who" && (input.type === "checkbox" ? input.checked : input.value !== ""));
}

// Someone else has answered the action that someone was typing for: what was typed is shown, not lost.
function saveTyped(place, asked) {
  const shown = place.querySelector("[data-asked]");
  if (!shown || String(asked) === shown.dataset.asked || shown.dataset.sent) return;
  const values = typed(shown).map((input) => input.name.replace("value:", "") + " = " + input.value);
  if (!values.length) return;
  const kept = document.getElementById("kept");
  kept.textContent = "Number " + shown.dataset.asked + " was answered elsewhere meanwhile. You had typed: " + values.join(", ") + ".";
}

// What someone is typing, and what is wrong with it, stays as long as the action that it answers is still pending.
function isBusy(place, asked) {
  const shown = place.querySelector("[data-asked]");
  if (!shown || String(asked) !== shown.dataset.asked) return false;
  return typed(shown).length > 0 || shown.querySelector(".error:not(:empty)") !== null;
}

async function send(form) {
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  form.dataset.sending = "yes";  // its part is not replaced meanwhile: the answer has to be shown in it
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(new FormData(form)),
    });
    const found = await answer.json();
    delete form.dataset.sending;
    if (found.errors) { showErrors(form, found.errors); return; }
    if ("create" in form.dataset) { location.assign("/"); return; }
    const answered = form.closest("[data-asked]");
    if (answered) answered.dataset.sent = "yes";
    if (document.getElementById("kept")) document.getElementById("kept").textContent = "";
    for (const input of form.querySelectorAll("input:not([type=hidden])")) {
      if (input.type === "checkbox") input.checked = false;
      else if (input.name !== "who") input.value = "";
    }
    showErrors(form, {});
    if (found.id) view.id = String(found.id);
    else if ("record" in form.dataset) view.id = null;
    await refresh();
    say(found.said);
    const next = document.querySelector("#part-next input:not([type=hidden])") || document.querySelector("#part-next button");
    if (next && form.action.match(/\/(next|record|reject|take-back|go-on)$/)) next.focus();
  } catch {
    showErrors(form, { "": "The page's server did not answer; what you typed is still here. Try again when it is back." });
  } finally {
    delete form.dataset.sending;
    button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if ("act" in form.dataset) { event.preventDefault(); send(form); }
  else if (form.id === "search") {
    event.preventDefault();
    view.search = form.elements.namedItem("search").value;
    view.page = "1";
    refresh();
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-page], [data-choose]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.page) view.page = link.dataset.page;
  else {
    view.id = link.dataset.choose;
    typed(document.getElementById("part-next")).forEach((input) => { input.value = ""; });
  }
  refresh();
});

const more = document.getElementById("more-rows");
if (more) {
  more.hidden = false;
  more.addEventListener("click", () => {
    const rows = document.getElementById("rows");
    const number = rows.children.length;
    const row = rows.lastElementChild.cloneNode(true);
    for (const place of row.querySelectorAll("*")) {
      for (const key of ["id", "for", "aria-describedby"]) {
        const value = place.getAttribute(key);
        if (value) place.setAttribute(key, value.replace(/\d+$/, number));
      }
      for (const key of ["name", "data-error"]) {
        const value = place.getAttribute(key);
        if (value) place.setAttribute(key, value.replace(/:\d+$/, ":" + number));
      }
      if (place.type === "checkbox") place.checked = false;
      else if (place.tagName === "INPUT") { place.value = ""; place.removeAttribute("aria-invalid"); }
      if (place.className === "error") place.textContent = "";
      if (place.className === "hidden") place.textContent = "of variable " + (number + 1);
    }
    rows.append(row);
    row.querySelector("input").focus();
  });
}

// Browsers allow few connections to one place: only a page that is looked at keeps one.
let changes = null;
let wasAway = false;

function follow() {
  if (document.hidden || (changes && changes.readyState !== EventSource.CLOSED)) return;
  changes = new EventSource("/changes");
  changes.onmessage = (event) => {
    const last = Number(event.data);
    if (wasAway) say("The page is up to date again.");
    wasAway = false;
    if (seen === null && document.getElementById("part-state")) { seen = last; refresh(); }
    else if (last !== seen) refresh();
  };
  changes.onerror = () => {
    if (!wasAway) say("The page's server does not answer. What is shown may be old.");
    wasAway = true;
    if (changes.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
  };
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden && changes) changes.close();
  else follow();
});
follow();
