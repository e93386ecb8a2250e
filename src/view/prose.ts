/** What the responder reads in a state. Markdown. */
export interface ProseSection {
  readonly title: string;
  readonly markdown: string;
}

/**
 * The sections of a runbook by the state they belong to. A section is a heading, followed by `<!-- state: a, b -->` with the names of
 * its states; other sections (introduction, diagram) are for readers of the file. Pure.
 */
export function proseByState(markdown: string): ReadonlyMap<string, ProseSection> {
  const sections = new Map<string, ProseSection>();
  for (const block of markdown.split(/^(?=#{2,3} )/m)) {
    const [heading = '', ...rest] = block.split('\n');
    const marker = /<!--\s*state:\s*([^>]*?)\s*-->/.exec(block);
    if (marker === null) continue;
    const section = {
      title: heading.replace(/^#+\s*/, '').trim(),
      markdown: rest
        .join('\n')
        .replace(/<!--[\s\S]*?-->/g, '')
        .trim(),
    };
    for (const state of (marker[1] ?? '').split(/[\s,]+/)) if (state !== '') sections.set(state, section);
  }
  return sections;
}
