import type { QuestionOption, QuestionView } from '../view/run-view.ts';

/** What the operator has done about the question on the screen. */
export interface QuestionState {
  /** Which question this is about; see `questionKey`. */
  readonly key: string;
  /** Index into `rowsOf`. */
  readonly row: number;
  /** The option whose reason or evidence is being typed. */
  readonly option?: QuestionOption;
  /** What stands in the field. For a secret it must not reach the screen. */
  readonly text: string;
  /** The first of two entries of a secret. */
  readonly first?: string;
  readonly problem?: {
    readonly text: string;
    readonly hints: readonly string[];
  };
  /** The answer is on its way to the journal. */
  readonly sending: boolean;
}

export type Row = { readonly kind: 'field' } | { readonly kind: 'option'; readonly option: QuestionOption };

/** The rows the cursor can stand on: the field first, then the options. */
export function rowsOf(question: QuestionView): readonly Row[] {
  const options = question.options.map((option): Row => ({ kind: 'option', option }));
  return question.kind === 'choice' ? options : [{ kind: 'field' }, ...options];
}

/**
 * Two views ask the same question when everything that is promised and could be answered is the same. Only the sentence
 * why an option is disabled may change (it may count down).
 */
export function questionKey(question: QuestionView | undefined): string {
  if (question === undefined) return '';
  const options = question.options.map((option) => ({
    ...option,
    disabled: option.disabled !== undefined,
  }));
  return JSON.stringify({ ...question, options });
}

/** A question nobody has touched yet: the cursor on the field, or on the recommended option. */
export function freshQuestion(question: QuestionView): QuestionState {
  const rows = rowsOf(question);
  const open = (row: Row) => row.kind === 'field' || row.option.disabled === undefined;
  const recommended = rows.findIndex((row) => row.kind === 'option' && row.option.recommended && open(row));
  const first = rows.findIndex(open);
  const row = question.kind === 'choice' && recommended >= 0 ? recommended : Math.max(0, first);
  return { key: questionKey(question), row, text: '', sending: false };
}

/** Whether keys type text now. */
export function isTyping(question: QuestionView, state: QuestionState): boolean {
  return state.option !== undefined || rowsOf(question)[state.row]?.kind === 'field';
}
