import type { LabFacts, LabInstance, LabScenario } from '../../../view/app/lab-facts.ts';
import { NO_LAB } from '../../../view/app/sources.ts';
import type { Around } from '../../live-screen.ts';
import type { Field, FieldIntent } from '../../parts/field.ts';
import { cursorAt, FRESH_LIST, filtered, type ListIntent, type ListState } from '../../parts/list.ts';

/** What covers the instances: the scenarios, a question, or a field. */
type Over =
  | { readonly kind: 'scenarios'; readonly list: ListState }
  /** `isSure`: the row that deletes is selected. */
  | { readonly kind: 'delete'; readonly instance: string; readonly isSure: boolean }
  | { readonly kind: 'advance'; readonly field: Field };

export interface LabState {
  readonly list: ListState;
  readonly over: Over | undefined;
}

export const FRESH: LabState = { list: FRESH_LIST, over: undefined };

export type LabIntent =
  | 'look'
  | 'scenarios'
  | 'stop-faults'
  | 'lose'
  | 'bring-back'
  | 'ask-delete'
  | 'clock'
  | 'expire-tokens'
  | 'copy'
  | 'choose'
  | 'other'
  | 'close'
  | ListIntent
  | FieldIntent;

/** What is known of the lab, and what is under the cursor. */
export interface LabKnown {
  readonly lab: LabFacts | undefined;
  /** Why the lab cannot be changed now; undefined if it can. */
  readonly why: string | undefined;
  readonly instances: readonly LabInstance[];
  readonly here: LabInstance | undefined;
  /** Whether the config has an instance of this name. */
  readonly isConfigured: boolean;
  readonly scenarios: readonly LabScenario[];
  readonly scenario: LabScenario | undefined;
}

/** The facts, filtered as on the screen. */
export function knownOf({ list, over }: LabState, { facts }: Pick<Around, 'facts'>): LabKnown {
  const home = facts.get('home', null).last?.value;
  const { part, last } = facts.get('lab', null);
  const lab = home?.lab === undefined ? undefined : last?.value;
  const instances = filtered(lab?.instances ?? [], list, ({ name, state }) => `${name} ${state}`);
  const here = instances[cursorAt(list, instances.map(nameOf))];
  const shown = over?.kind === 'scenarios' ? over.list : FRESH_LIST;
  const scenarios = filtered(lab?.scenarios ?? [], shown, ({ name, summary }) => `${name} ${summary}`);
  return {
    lab,
    why:
      home !== undefined && home.lab === undefined
        ? NO_LAB
        : part.state === 'failed'
          ? `nothing can be changed now: ${part.why}`
          : lab === undefined
            ? 'the lab has not answered yet'
            : undefined,
    instances,
    here,
    isConfigured: home?.instances.some(({ name }) => name === here?.name) === true,
    scenarios,
    scenario: scenarios[cursorAt(shown, scenarios.map(nameOf))],
  };
}

export function nameOf({ name }: { readonly name: string }): string {
  return name;
}
