/**
 * What Markdown (CommonMark, and what GitHub adds) would make more of than text. Each in a text of one line,
 * code spans and escapes taken out.
 */
const ACTIVE: readonly RegExp[] = [
  /\]\(/u,
  /\]\[/u,
  /!\[/u,
  /<\/?[a-z!?]/iu,
  /https?:\/\//iu,
  /\bwww\./iu,
  /~~/u,
  /\$/u,
  /^\s*\[[^\]]*\]:/u,
  /^(?:```|~~~)/u,
  /^(?:===+|---+)\s*$/u,
];

/**
 * Lines of a report in which something would be a link, a picture, an element or a block of its own, and is
 * not of the report itself.
 */
export function activeIn(markdown: string): string[] {
  let isCode = false;
  return markdown.split('\n').flatMap((line, at, lines) => {
    // Indented by four after an empty line, or after such a line: shown letter by letter.
    isCode = line.startsWith('    ') && (isCode || lines[at - 1] === '');
    if (isCode) return [];
    const text = line.replace(/(?<!\\)`[^`]*`/gu, 'code').replace(/\\[!-/:-@[-`{-~]/gu, '');
    const active = ACTIVE.find((shape) => shape.test(text));
    return active === undefined ? [] : [`${active.source} in ${line.slice(0, 200)}`];
  });
}
