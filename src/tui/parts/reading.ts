import type { Page } from '../bands.ts';
import type { BoundKey } from '../live-screen.ts';

export type ReadingIntent = 'line-up' | 'line-down' | 'page-up' | 'page-down' | 'begin' | 'end';

export const READING_KEYS: readonly BoundKey<ReadingIntent>[] = [
  {
    intent: 'line-down',
    keys: ['down', 'j'],
    shown: 'up/down',
    label: 'scroll',
    description: 'scroll by a row (also j and k)',
    inFooter: true,
  },
  { intent: 'line-up', keys: ['up', 'k'], shown: '', label: '', description: 'scroll up', inFooter: false },
  {
    intent: 'page-down',
    keys: ['pagedown', 'tab', ' '],
    shown: 'Tab',
    label: 'more text',
    description: 'scroll by a page; after the last page, to the beginning',
    inFooter: false,
  },
  {
    intent: 'page-up',
    keys: ['pageup'],
    shown: 'PgUp',
    label: 'scroll back',
    description: 'scroll back by a page',
    inFooter: false,
  },
  {
    intent: 'begin',
    keys: ['home', 'g'],
    shown: 'g/G',
    label: 'ends',
    description: 'go to the beginning or to the end of the text',
    inFooter: false,
  },
  { intent: 'end', keys: ['end', 'G'], shown: '', label: '', description: 'go to the end', inFooter: false },
];

const INTENTS: ReadonlySet<string> = new Set(READING_KEYS.map(({ intent }) => intent));

export function isReadingIntent(intent: string): intent is ReadingIntent {
  return INTENTS.has(intent);
}

export function scrolledTo(scroll: number, intent: ReadingIntent, { height, last }: Page): number {
  const at = Math.min(scroll, last);
  switch (intent) {
    case 'line-down':
      return Math.min(last, at + 1);
    case 'line-up':
      return Math.max(0, at - 1);
    case 'page-down':
      return at >= last ? 0 : Math.min(last, at + height);
    case 'page-up':
      return Math.max(0, at - height);
    case 'begin':
      return 0;
    case 'end':
      return last;
  }
}
