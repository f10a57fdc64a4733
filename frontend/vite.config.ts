import { readFile, readdir, writeFile } from "node:fs/promises";
import { fileURLToPath, URL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const OUTPUT = here("../src/memory_butler/dashboard");
// Where `make serve` listens; `npm run dev` passes the API on to it.
const SERVER = process.env["MEMORY_BUTLER_URL"] ?? "http://127.0.0.1:8150";

/** Beside each file that compresses, its .br and .gz: the server packs nothing at run time. */
function compressed(): Plugin {
  const [br, gz] = [promisify(brotliCompress), promisify(gzip)];
  const smallest = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  return {
    name: "compressed",
    apply: "build",
    async closeBundle() {
      const names = await readdir(OUTPUT, { recursive: true });
      const texts = names.filter((name) => /\.(js|css|html|svg)$/.test(name));
      await Promise.all(
        texts.map(async (name) => {
          const bytes = await readFile(`${OUTPUT}/${name}`);
          await writeFile(`${OUTPUT}/${name}.br`, await br(bytes, smallest));
          await writeFile(`${OUTPUT}/${name}.gz`, await gz(bytes, { level: 9 }));
        }),
      );
    },
  };
}

/** The page without the comments of its source. */
function bare(): Plugin {
  return {
    name: "bare",
    apply: "build",
    transformIndexHtml: (html) => html.replace(/\s*<!--.*?-->/gs, ""),
  };
}

export default defineConfig({
  plugins: [react(), tailwind(), bare(), compressed()],
  resolve: {
    alias: {
      "@": here("./src"),
      // Radix locks scrolling with a <style> element, which the Content-Security-Policy refuses.
      "react-style-singleton": here("./src/ui/styleSingleton.ts"),
    },
  },
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would be data: URLs, which the policy allows for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // One request for what pages share, instead of one for each icon and component; not for
        // what brings much of Radix along.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              // What every page begins with, in one file: each of a dozen would bring its headers.
              name: "start",
              test: /vite\/preload-helper|icon\.svg|node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack\/(react-router|router-core|history|react-store|store))\/|src\/shell\/(Drawers|page|root|opened|MemoryLink)/,
            },
            {
              name: "shared",
              test: /node_modules\/(lucide-react|clsx|openapi-fetch|@tanstack\/(react-)?query)|src\/(api|shell|ui)\/(?!Dialog|FormDialog|Drawer|Table|Toasts|SavedViews|SelectionBar)/,
              minShareCount: 3,
            },
            {
              // What lists whose rows can be selected have in common, and the filters of facts.
              name: "lists",
              test: /src\/(shell\/(SavedViews|SelectionBar)|memory\/(changes|undo|unmask)|pages\/facts\/(FactFilters|queries))/,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/readyz", "/healthz"].map((path) => [path, { target: SERVER, changeOrigin: true }]),
    ),
  },
});
