import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/**
 * Bundles what is used of zod, and builds our schemas of runs and stores when they are first used, zod with
 * them: a command uses few of the schemas that its modules have, and building all of them takes as long as a
 * third of starting Node.
 *
 * `export const Name = z.object({...});` becomes `__lateSchema(() => z.object({...}))`, whose meaning is in the
 * head of the bundle (parts.ts).
 */
export const lateSchemas: Plugin = {
  name: 'late-schemas',
  setup({ onLoad }) {
    onLoad({ filter: OURS }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!ZOD.test(text)) return undefined;
      const contents = text.replace(ZOD, EACH_OF_ZOD);
      return { contents: LATE.test(path) ? contents.replace(SCHEMA, BUILT_LATE) : contents, loader: 'ts' };
    });
  },
};

const OURS = /[\\/](?:src|machines)[\\/].*\.ts$/;

/**
 * The others are also drawn as JSON Schemas, for which zod has to meet a schema as the same object each time.
 */
const LATE = /[\\/](?:machines|src[\\/](?:activities|audit|keys|platform|store))[\\/]/;

/** Of `z` as an object esbuild keeps all of zod; of a namespace it keeps what is used. */
const ZOD = /^import \{ z \} from 'zod';$/m;
const EACH_OF_ZOD = "import * as z from 'zod';";

/**
 * A statement at the top of a module, as the formatter writes it: of `z`, or of a schema that has a name. It
 * ends before the next statement, or one line above it.
 */
const SCHEMA =
  /^((?:export )?const \w+ = )(z\b[\s\S]*?|[A-Z]\w*\s*\.(?:extend|omit|partial|pick)\([\s\S]*?);(?=\n\n?[^\s})\]]|\n?(?![\s\S]))/gm;
const BUILT_LATE = '$1/* @__PURE__ */ __lateSchema(() => $2);';
