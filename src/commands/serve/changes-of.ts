import type { Change } from '../../serve/page.ts';
import type { Entry } from '../../store/journal.ts';
import { entrySentences } from '../../store/sentence.ts';

/** What is no news by itself: what follows from it is. */
const NOISE: ReadonlySet<string> = new Set(['activity.begun', 'intent.prepared', 'transcript.kept']);

/** How many changes a page lists. */
const MAX_CHANGES = 15;
/** A sentence is cut: the record has all of it. */
const LONGEST = 160;

/** In words, newest first, with a count of more. `of`: only these streams. */
export function changesOf(
  recent: readonly Entry[],
  of: (stream: string) => boolean = () => true,
): { readonly changes: readonly Change[]; readonly more: number } {
  const say = entrySentences();
  const all = recent
    .filter(({ stream }) => of(stream))
    .flatMap((entry): Change[] => {
      const { text, tone } = say(entry);
      if (NOISE.has(entry.type)) return [];
      const [room, name = ''] = entry.stream.split('/');
      const short = text.length > LONGEST ? `${Array.from(text).slice(0, LONGEST).join('')}…` : text;
      return [
        {
          ...{ at: entry.at, about: name, text: short, tone },
          ...(room === 'run' || room === 'plan' ? { runId: name } : {}),
        },
      ];
    });
  return { changes: all.slice(-MAX_CHANGES).toReversed(), more: Math.max(0, all.length - MAX_CHANGES) };
}
