import { Lexer, type Token, type Tokens } from 'marked';
import type { AnyStateMachine } from 'xstate';
import { leavesOf, metaAt, stepOf } from '../../machines/parts/states.ts';

/** For the responder, in one state. */
export interface ProseSection extends Prose {
  readonly title: string;
}

/** `tokens`, if known, saves parsing. */
export interface Prose {
  readonly markdown: string;
  readonly tokens?: string | undefined;
}

/** Marked's tokens as JSON, without the texts that inner tokens repeat, which are most of it. Pure. */
export function tokensOf(markdown: string): string {
  return JSON.stringify(Lexer.lex(markdown), function (this: Partial<Tokens.Generic>, key, value: unknown) {
    if (key === 'raw') return FROM_INSIDE.has(this.type ?? '') ? undefined : value;
    if (key === 'text') return this.tokens !== undefined && this.type !== 'link' ? undefined : value;
    return value;
  });
}

/** Drawn from their tokens or text; other types are shown as written. */
const FROM_INSIDE: ReadonlySet<string> = new Set([
  ...['paragraph', 'text', 'heading', 'blockquote', 'list', 'list_item', 'code', 'table', 'space', 'def'],
  ...['escape', 'strong', 'em', 'codespan', 'link', 'br'],
]);

/**
 * By state. A section is a heading, followed by `<!-- state: a, b -->` with the names of its states; other
 * sections (introduction, diagram) are for readers of the file. Several sections for a state are joined.
 * Pure.
 */
export function proseByState(markdown: string): ReadonlyMap<string, ProseSection> {
  const sections = new Map<string, ProseSection>();
  for (const { title, blocks } of sectionsOf(new Lexer().blockTokens(markdown))) {
    const states = blocks.flatMap(statesIn);
    const section = { title, markdown: blocks.map(withoutComments).join('').trim() };
    for (const state of states) sections.set(state, below(sections.get(state), section));
  }
  return sections;
}

interface Section {
  readonly title: string;
  readonly blocks: Token[];
}

function sectionsOf(blocks: readonly Token[]): readonly Section[] {
  const sections: Section[] = [];
  for (const block of blocks) {
    const begins = block.type === 'heading' && (block['depth'] === 2 || block['depth'] === 3);
    if (begins) sections.push({ title: String(block['text']), blocks: [] });
    else sections.at(-1)?.blocks.push(block);
  }
  return sections;
}

function statesIn({ type, raw }: Token): string[] {
  const marker = type === 'html' ? /<!--\s*state:\s*([^>]*?)\s*-->/u.exec(raw) : null;
  return (marker?.[1] ?? '').split(/[\s,]+/u).filter((state) => state !== '');
}

/** A comment inside code is code. */
function withoutComments({ type, raw }: Token): string {
  return type === 'code' ? raw : raw.replace(/<!--[\s\S]*?-->/gu, '');
}

/**
 * In this order: the section of the state, the one that all runbooks with its phase share (`backup.waiting`),
 * the section of its phase, or the shared one of that (`backup`). A team's section for every state is
 * unchanged. Pure.
 */
export function proseOfStates(
  machine: AnyStateMachine,
  own: ReadonlyMap<string, ProseSection>,
  shared: ReadonlyMap<string, ProseSection> = new Map(),
): ReadonlyMap<string, ProseSection> {
  const sections = leavesOf(machine).flatMap((state): [string, ProseSection][] => {
    const phase = stepOf(state);
    const like = metaAt(machine, phase)?.like ?? phase;
    const found =
      own.get(state) ??
      shared.get(state) ??
      shared.get(`${like}${state.slice(phase.length)}`) ??
      own.get(phase) ??
      shared.get(like);
    return found === undefined ? [] : [[state, found]];
  });
  const everywhere = own.get(EVERY_STATE);
  return new Map(everywhere === undefined ? sections : [...sections, [EVERY_STATE, everywhere]]);
}

/** Joins two sections, so that neither is lost. */
function below(first: ProseSection | undefined, second: ProseSection): ProseSection {
  if (first === undefined) return second;
  return { title: first.title, markdown: `${first.markdown}\n\n${headed(second)}` };
}

function headed({ title, markdown }: ProseSection): string {
  return title === '' ? markdown : `**${title}**\n\n${markdown}`;
}

/** A team's section for this name is placed below every state. */
const EVERY_STATE = '*';

/**
 * A team's text about a state is placed above the runbook's, because the team wants it read first; its text
 * about `*` below every state. Neither hides the runbook's text. Pure.
 */
export function layOver(
  runbook: ReadonlyMap<string, ProseSection>,
  team: ReadonlyMap<string, ProseSection>,
): ReadonlyMap<string, ProseSection> {
  const everywhere = team.get(EVERY_STATE);
  const states = new Set([...runbook.keys(), ...team.keys()]);
  states.delete(EVERY_STATE);
  return new Map(
    [...states].map((state): [string, ProseSection] => {
      const own = runbook.get(state);
      if (own !== undefined && everywhere === undefined && !team.has(state)) return [state, own];
      const title = own?.title ?? team.get(state)?.title ?? state;
      const parts = [beside(title, team.get(state)), own?.markdown, beside(title, everywhere)];
      return [state, { title, markdown: parts.filter((part) => part !== undefined).join('\n\n') }];
    }),
  );
}

/** Keeps a team's heading, unless it is the title of the whole. */
function beside(title: string, section: ProseSection | undefined): string | undefined {
  return section === undefined || section.title === title ? section?.markdown : headed(section);
}
