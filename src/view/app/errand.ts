/** Something that the app does in the world and then tells of: what the command of the same name does. */
export type Errand =
  /** `lifeboat audit export`: the signed bundle of a run, into a new file in the current folder. */
  | { readonly do: 'export'; readonly runId: string }
  /** `lifeboat backups download`: a backup as it is, into a new file in the current folder. */
  | { readonly do: 'download'; readonly instance: string; readonly id: number }
  /** Downloads a backup and reads it to its last byte, as `lifeboat verify -` does; keeps nothing. */
  | { readonly do: 'verify'; readonly instance: string; readonly id: number }
  /** `lifeboat followups run`. `id` as it is listed, behind its run or instance. */
  | { readonly do: 'follow-up'; readonly id: string }
  /** `lifeboat followups done` or `skip`. */
  | {
      readonly do: 'close-follow-up';
      readonly id: string;
      readonly how: 'done' | 'skip';
      readonly text: string;
    };

/** What came of it: in one line, what else it said, and what can be done with it. Printable. */
export interface ErrandEnd {
  readonly text: string;
  readonly lines: readonly string[];
  readonly hints: readonly string[];
}

/** What is said while it is under way, and what its end is called. */
export function errandWords(errand: Errand): { readonly title: string; readonly meanwhile: string } {
  switch (errand.do) {
    case 'export':
      return { title: 'the bundle', meanwhile: `checking the journal and writing the bundle` };
    case 'download':
      return { title: `backup ${errand.id}`, meanwhile: `downloading backup ${errand.id}` };
    case 'verify':
      return {
        title: `backup ${errand.id}`,
        meanwhile: `reading backup ${errand.id} to its last byte; no proof of it goes on record`,
      };
    case 'follow-up':
      return { title: 'the follow-up', meanwhile: 'having the follow-up done' };
    case 'close-follow-up':
      return { title: 'the follow-up', meanwhile: 'closing the follow-up' };
  }
}
