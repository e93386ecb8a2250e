import { hash } from 'node:crypto';
import { ownFile } from '../base/own-program.ts';
import { type ProseSection, proseByState, tokensOf } from '../view/prose.ts';

/** Set by the build, which makes these files beside the bundle. A checkout has none. */
declare const IS_BUNDLED: true | undefined;

/** The parsed prose of one Markdown file. */
interface BuiltProse {
  /** Of the Markdown from which it was made. */
  readonly digest: string;
  readonly sections: readonly BuiltSection[];
}

interface BuiltSection extends ProseSection {
  readonly states: readonly string[];
}

/**
 * What the build keeps of a prose file: its sections by state, each with its tokens. Parsing Markdown makes
 * marked compile some twenty large regular expressions: 5 % more processor time until a run's screen is drawn
 * (median of 30 starts in turns).
 */
export function buildProse(markdown: string): string {
  const sections = Map.groupBy(proseByState(markdown), ([, section]) => section);
  const built: BuiltProse = {
    digest: digestOf(markdown),
    sections: [...sections].map(([section, found]) => ({
      ...section,
      states: found.map(([state]) => state),
      tokens: tokensOf(section.markdown),
    })),
  };
  return JSON.stringify(built);
}

/**
 * The build's sections of the prose file `name`: the same as `proseByState` gives. Undefined if `markdown` is
 * not what the build read, or nothing was built.
 */
export function builtProse(name: string, markdown: string): ReadonlyMap<string, ProseSection> | undefined {
  if (typeof IS_BUNDLED === 'undefined') return undefined;
  try {
    return readBuiltProse(ownFile(builtFile(name)).toString('utf8'), markdown);
  } catch {
    // A package that lost the file still has the Markdown.
    return undefined;
  }
}

/** The same from the text of the file. Pure. */
export function readBuiltProse(
  text: string,
  markdown: string,
): ReadonlyMap<string, ProseSection> | undefined {
  const { digest, sections } = JSON.parse(text) as BuiltProse;
  if (digest !== digestOf(markdown)) return undefined;
  return new Map(
    sections.flatMap(({ states, ...section }) =>
      states.map((state): [string, ProseSection] => [state, section]),
    ),
  );
}

/** Where the package has what was built from the file of prose `name`. */
export function builtFile(name: string): string {
  return `dist/prose/${name}.json`;
}

function digestOf(markdown: string): string {
  return hash('sha256', markdown);
}
