/**
 * Puts text between the markers `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` of a document.
 * Throws when the document has a marker that nothing is generated for, or lacks one of the `required`.
 */
export function fillBlocks(
  document: string,
  blocks: Readonly<Record<string, string>>,
  required: readonly string[],
): string {
  const missing = required.filter((name) => !document.includes(`<!-- generated:${name} -->`));
  if (missing.length > 0) throw new Error(`has no place for ${missing.join(', ')}`);
  return document.replace(BLOCK, (_, name: string, rest: string) => {
    const text = Object.hasOwn(blocks, name) ? blocks[name] : undefined;
    if (text === undefined) throw new Error(`asks for ${name}, which nobody generates`);
    if (!rest.endsWith(`<!-- /generated:${name} -->`)) throw new Error(`does not close ${name}`);
    return `<!-- generated:${name} -->\n${text.trim()}\n<!-- /generated:${name} -->`;
  });
}

/** From an opening marker to the next closing one, or to the end when there is none. */
const BLOCK = /<!-- generated:([\w-]+) -->([\s\S]*?(?:<!-- \/generated:[\w-]+ -->|$(?![\s\S])))/g;
