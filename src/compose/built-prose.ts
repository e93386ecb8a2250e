import { hash } from 'node:crypto';
import { ownFile } from '../base/own-program.ts';
import { type ProseSection, proseByState, tokensOf } from '../view/prose.ts';

/** Set by the build, which makes these files beside the bundle. A checkout has none. */
declare const IS_BUNDLED: true | undefined;

interface BuiltProse {
  /** Of the Markdown from which it was made. */
  readonly digest: string;
  readonly sections: readonly BuiltSection[];
}

interface BuiltSection extends ProseSection {
  readonly states: readonly string[];
}

/**
 * A prose file's sections by state, with tokens. Without the build, marked compiles some twenty large regular
 * expressions: 5 % more processor time until a run's screen is drawn (median of 30 starts in turns).
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

/** As `proseByState`, from the build. Undefined without one, or if `markdown` is not what it read. */
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
