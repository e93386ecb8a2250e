import type { RunView } from '../../../../view/run-view.ts';
import { padLine, ruleLine, wrapLine } from '../../../line.ts';
import { footerLine } from '../../../parts/frame.ts';
import { type Line, type Look, span } from '../../../span.ts';
import type { Binding, Intent, Mode } from '../key-binding.ts';
import { bindingsIn, footerBindings } from '../keymap.ts';
import { commandsAt, wayAt } from '../question-state.ts';
import type { UiState } from '../screen-state.ts';

/** The keys that work now; the way on and the way out get their place first. */
export function runFooter(
  view: Pick<RunView, 'mode' | 'paused' | 'question' | 'outcome' | 'watched' | 'chapter'>,
  mode: Mode,
  width: number,
  look: Look,
  { question: asked, hasPalette = false }: Pick<UiState, 'question' | 'hasPalette'>,
): Line {
  const unit = asked?.picker?.unit ?? '';
  const hasCommand = commandsAt(view.question, asked) !== undefined;
  const hasWay = wayAt(view) !== undefined;
  const isFree = hasPalette && view.watched?.isFree === true;
  const shown = { isPaused: view.paused, hasCommand, hasWay, hasPalette, isFree };
  const bindings = footerBindings(mode, shown).map((binding) => ({
    ...binding,
    label: labelOf(binding, view).replace('{unit}', unit),
  }));
  const ranked = bindings.toSorted((one, other) => rankOf(one, bindings) - rankOf(other, bindings));
  return footerLine(view.mode, bindings, ranked, width, look);
}

/** In a drill the end of a run is not the end: Enter goes on. */
function labelOf({ intent, label }: Binding, { chapter }: Pick<RunView, 'chapter'>): string {
  return intent === 'close' && chapter !== undefined ? 'go on with the drill' : label;
}

const ON: ReadonlySet<Intent> = new Set<Intent>(['choose', 'submit', 'wake', 'take-over']);
/** The picker cannot be read off the screen, as a list of answers can. */
const NEEDED: ReadonlySet<Intent> = new Set<Intent>(['later', 'coarser', 'help', 'palette']);
const OUT: ReadonlySet<Intent> = new Set<Intent>([
  'ask-leave',
  'back',
  'close',
  'close-help',
  'close-fallback',
  'stay',
]);

/** Which keys are given their place first; of several ways out, the first. */
function rankOf(binding: Binding, bindings: readonly Binding[]): number {
  const { intent } = binding;
  if (bindings.find((other) => OUT.has(other.intent)) === binding) return 0;
  return ON.has(intent) ? 1 : OUT.has(intent) || NEEDED.has(intent) ? 2 : 3;
}

const KEY_WIDTH = 12;

/** What the keys do in this mode, and what the signs mean. */
export function helpLines(mode: Mode, width: number, look: Look): Line[] {
  const { glyphs } = look;
  const signs =
    `${glyphs.done} done  ${glyphs.current} now  ${glyphs.ahead} ahead  ` +
    `${glyphs.skipped} skipped  ${glyphs.failed} failed  ${glyphs.warn} look here`;
  const entries: readonly (readonly [string, string])[] = [
    ...bindingsIn(mode).map(({ shown, description }) => [shown, description] as const),
    ['signs', signs],
    mode === 'looking'
      ? ['leaving', 'ends only your watching: the run goes on']
      : [
          'leaving',
          'is safe: each step is on record before it is taken, and the run resumes where you left it',
        ],
  ];
  return [ruleLine('help', width, look, 'accent'), ...entries.flatMap((entry) => entryLines(entry, width))];
}

function entryLines([term, meaning]: readonly [string, string], width: number): Line[] {
  return wrapLine([span(meaning)], Math.max(10, width - KEY_WIDTH)).map((row, at) => [
    ...padLine(at === 0 ? [span(term, 'text.strong')] : [], KEY_WIDTH),
    ...row,
  ]);
}
