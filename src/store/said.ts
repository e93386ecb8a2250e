/** What an entry says to a person, printable, without a stop; `tone` says how a renderer may stress it. */
export interface Sentence {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'dim';
  /** The title of the state that the entry led to, which the text names too. */
  readonly next?: string;
}
