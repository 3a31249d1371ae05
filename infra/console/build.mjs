// Bundles the console: node build.mjs FOLDER
//
// Writes index.html, one script and one style sheet with hashes in their names, manifest.json (which files there are,
// with their types and hashes) and LICENSES.txt. The same sources give the same bytes.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 120 * 1024;
const RUN_TIME = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" };

const folder = process.argv[2];
const built = await build({
  entryPoints: { app: "src/main.tsx", style: "src/style/all.css" },
  outdir: folder,
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["chrome123", "firefox120", "safari17.5"],
  legalComments: "none",
  logLevel: "warning",
});

const files = {};
const names = {};
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const output of built.outputFiles.sort((one, other) => one.path.localeCompare(other.path))) {
  const [base, type] = output.path.split("/").pop().split(".");
  const name = `${base}-${sha256(output.contents).slice(0, 12)}.${type}`;
  names[type] = name;
  files[name] = { media_type: TYPES[type], sha256: sha256(output.contents) };
  writeFileSync(join(folder, name), output.contents);
}
const page = readFileSync("index.html", "utf8")
  .replace("{style}", `console/assets/${names.css}`)
  .replace("{script}", `console/assets/${names.js}`);
writeFileSync(join(folder, "index.html"), page);
writeFileSync(join(folder, "LICENSES.txt"), licences());
const manifest = { files, index: { sha256: sha256(page) } };
writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);

const sent = [page, ...built.outputFiles.map((output) => output.contents)];
const size = sent.reduce((sum, each) => sum + gzipSync(each, { level: 6 }).length, 0);
console.log(`console: ${(size / 1024).toFixed(1)} KiB compressed (at most ${LIMIT / 1024})`);
if (size > LIMIT) process.exit(1);

function sha256(content) {
  return createHash("sha256").update(content).digest("hex");
}

/** The licences of what is in the script: they ask to be sent with it. */
function licences() {
  return RUN_TIME.map((name) => {
    const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    return `${name} ${version}, ${license}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
  }).join("\n---\n\n");
}
