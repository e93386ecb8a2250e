import type { Binding } from './key-binding.ts';

/** Keys over a run that somebody else drives: nothing can be answered, and it is left without a question. */
export const WATCHING: readonly Binding[] = [
  {
    intent: 'page-down',
    keys: ['tab', 'pagedown'],
    modes: ['looking'],
    shown: 'Tab',
    label: 'more text',
    description: 'next page of the text; after the last page, the first',
    onScreen: 'always',
  },
  {
    intent: 'page-up',
    keys: ['pageup'],
    modes: ['looking'],
    shown: 'PgUp',
    label: 'back in the text',
    description: 'previous page of the text',
    onScreen: 'never',
  },
  {
    intent: 'help',
    keys: ['?'],
    modes: ['looking'],
    shown: '?',
    label: 'help',
    description: 'show this help',
    onScreen: 'always',
  },
  {
    intent: 'suspend',
    keys: ['ctrl+z'],
    modes: ['looking'],
    shown: 'Ctrl-Z',
    label: 'to the shell',
    description: 'suspend to the shell; `fg` comes back',
    onScreen: 'never',
  },
  {
    intent: 'close',
    keys: ['escape', 'q', 'ctrl+c'],
    modes: ['looking'],
    shown: 'Esc',
    label: 'stop watching',
    description: 'stop watching; the run goes on',
    onScreen: 'always',
  },
];
