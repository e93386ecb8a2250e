import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licence and the notices of every package of which a file was bundled: `inputs` are paths below `root`.
 */
export function noticesOf(root: string, inputs: readonly string[]): string {
  const folders = inputs.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []);
  return [...new Set(folders)]
    .toSorted()
    .map((folder) => noticeOf(join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The innermost package folder of a path. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

const NOTICE = /^(?:licen[cs]e|copying|notice|copyright)/i;

function noticeOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} says nothing of its licence`);
  const by = typeof author === 'string' ? author : author?.name;
  const said = texts.length > 0 ? texts : [`License: ${license}${by === undefined ? '' : `\nAuthor: ${by}`}`];
  return [`${name} ${version}`, ...said, ''].join('\n\n');
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}
