import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licence and the notices of every package of which a file was bundled: `inputs` are paths below `root`.
 * Throws when a package says nothing of its licence, or names one whose text is not known here and does not
 * bring it along.
 */
export function noticesOf(root: string, inputs: readonly string[]): string {
  return foldersOf(inputs)
    .map((folder) => noticeOf(join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The same packages with their versions; of one that is there in several versions, each. */
export function packagesOf(root: string, inputs: readonly string[]): Readonly<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const folder of foldersOf(inputs)) {
    const { name, version } = manifestIn(join(root, folder));
    const others = versions[name]?.split(', ') ?? [];
    versions[name] = [...new Set([...others, version])].join(', ');
  }
  return versions;
}

/** The folders of the packages, each once. */
function foldersOf(inputs: readonly string[]): readonly string[] {
  return [...new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []))].toSorted();
}

/** The innermost package folder of a path. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

const NOTICE = /^(?:licen[cs]e|copying|notice|copyright)/i;

function noticeOf(folder: string): string {
  const { name, version, license, author } = manifestIn(folder);
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} says nothing of its licence`);
  const by = typeof author === 'string' ? author : author?.name;
  const said = texts.length > 0 ? texts : [`License: ${license}${by === undefined ? '' : `\nAuthor: ${by}`}`];
  if (texts.length === 0) said.push(textOf(name, license ?? ''));
  return [`${name} ${version}`, ...said, ''].join('\n\n');
}

/** Some packages name their licence and leave its text out, which has to go along with every copy. */
function textOf(name: string, license: string): string {
  if (license === 'MIT') return MIT;
  throw new Error(`${name} has no text of its licence, ${license}; add the text to build/licenses.ts`);
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}
