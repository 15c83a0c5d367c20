// Builds both faces into functions/assets/static (or into the directory given): the same bytes for the same sources.
import { build } from "esbuild";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ? resolve(process.argv[2]) : join(here, "..", "..", "functions", "assets", "static");
const only = process.argv[3]; // "widget" or "console"; both without it

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "inline",
  target: ["es2022"],
  logLevel: "warning",
  write: true,
};

async function widget() {
  await build({
    ...common,
    entryPoints: ["widget/src/main.ts"],
    outfile: join(into, "widget/v1/knowledge-search.js"),
    format: "iife",
    banner: { js: "/*! <knowledge-search>: the search box of Knowledge Gateway for websites. Apache License 2.0. */" },
  });
}

async function console_() {
  const directory = join(into, "console");
  await mkdir(directory, { recursive: true });
  await build({
    ...common,
    entryPoints: { app: "console/src/main.tsx" },
    outdir: directory,
    format: "esm",
    splitting: true,
    chunkNames: "[name]",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  await build({ ...common, entryPoints: { app: "console/src/app.css" }, outdir: directory });
  for (const file of ["index.html", "icon.svg"]) await cp(join(here, "console/src", file), join(directory, file));
}

if (only !== "console") await widget();
if (only !== "widget") await console_();
