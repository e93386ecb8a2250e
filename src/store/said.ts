/** What an entry says to a person, printable, without a stop; `tone` says how a renderer may stress it. */
export interface Sentence {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'dim';
  /** The title of the state that the entry led to, which the text names too. */
  readonly next?: string;
}

/** A sentence in a tone. */
export function say(text: string, tone: Sentence['tone'] = 'plain'): Sentence {
  return { text, tone };
}

/** `: why`, as the end of a sentence about a failure. */
export function because(failure: { readonly shortMessage: string } | undefined): string {
  return failure === undefined ? '' : `: ${failure.shortMessage}`;
}

/** `, because: why`, as the end of a sentence about a decision. */
export function reason(text: string | undefined): string {
  return text === undefined ? '' : `, because: ${text}`;
}
