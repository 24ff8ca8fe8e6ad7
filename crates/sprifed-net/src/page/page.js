"use strict";
const study = document.getElementById("study");
const freshness = document.getElementById("freshness");
let shown = "";

async function refresh() {
  try {
    const answer = await fetch("fragment", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const text = await answer.text();
    if (text !== shown) {
      study.innerHTML = text;
      shown = text;
    }
    freshness.classList.remove("stale");
    freshness.firstChild.data = "Read-only. ";
  } catch {
    freshness.classList.add("stale");
    freshness.firstChild.data = "The coordinator does not answer; this is the last that was seen. ";
  }
  setTimeout(refresh, 2000);
}

setTimeout(refresh, 2000);
