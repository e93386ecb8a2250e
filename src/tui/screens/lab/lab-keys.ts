import { type BoundKey, letterKey } from '../../live-screen.ts';
import { EDITING_KEYS, PALETTE_KEY } from '../../parts/field.ts';
import { BACK_KEY, listKeys } from '../../parts/list.ts';
import type { LabIntent, LabKnown, LabState } from './lab-state.ts';

/** The keys of the screen now, with why some do nothing. */
export function labKeys({ list, over }: LabState, known: LabKnown): readonly BoundKey<LabIntent>[] {
  if (over?.kind === 'delete') return [CHOOSE, ...MOVES, CLOSE];
  if (over?.kind === 'advance')
    return [{ ...CHOOSE, label: 'move the clock' }, ...EDITING_KEYS, PALETTE_KEY, CLOSE];
  if (over !== undefined) {
    const none = known.scenario === undefined ? 'there is no scenario here' : undefined;
    if (over.list.isFiltering) return listKeys(over.list);
    const play = { ...CHOOSE, label: 'play', description: 'play the scenario in place of the one before' };
    return [
      { ...play, disabled: none ?? known.why },
      ...listKeys(over.list),
      ...(over.list.filter.text === '' ? [CLOSE] : []),
    ];
  }
  if (list.isFiltering) return listKeys(list);
  return [...overInstances(known), ...listKeys(list), ...(list.filter.text === '' ? [BACK_KEY] : [])];
}

function overInstances({ why, here, isConfigured }: LabKnown): readonly BoundKey<LabIntent>[] {
  const none = why ?? (here === undefined ? 'there is no instance here' : undefined);
  const { name = '', state = '' } = here ?? {};
  const gone = state === 'deleted' ? `${name} is deleted, for good` : undefined;
  return [
    {
      ...letterKey(
        'p',
        'scenarios',
        'play',
        'choose a scenario to play: what goes wrong, and what you learn from it',
      ),
      disabled: why,
    },
    {
      ...letterKey('x', 'stop-faults', 'stop faults', 'end all faults; tasks that they held go on'),
      disabled: why,
    },
    {
      intent: 'lose',
      keys: ['l'],
      shown: 'l',
      label: 'lose',
      description: 'take the instance away: its database is killed, a router answers 502 in its place',
      inFooter: true,
      disabled: none ?? gone ?? (state === 'lost' ? `${name} is lost: b brings it back` : undefined),
    },
    {
      intent: 'bring-back',
      keys: ['b'],
      shown: 'b',
      label: 'bring back',
      description: 'bring a lost instance back, with everything that was committed',
      inFooter: true,
      disabled: none ?? gone ?? (state === 'lost' ? undefined : `${name} is not lost`),
    },
    {
      ...letterKey('a', 'clock', 'clock', 'move the clock of the lab ahead, such as by 30d or 1h30m'),
      disabled: why,
    },
    {
      ...letterKey(
        't',
        'expire-tokens',
        'expire tokens',
        'expire the tokens of the lab; the token file gets a new one',
      ),
      disabled: why,
    },
    {
      ...letterKey(
        'D',
        'ask-delete',
        'delete',
        'delete the instance for good, as somebody would by mistake; asks first',
      ),
      disabled: none ?? gone,
    },
    {
      ...letterKey('y', 'copy', 'copy', 'copy the name of the instance'),
      inFooter: false,
      disabled: none,
    },
    {
      intent: 'look',
      keys: ['enter'],
      shown: 'Enter',
      label: 'look',
      description: 'look at the instance as the service shows it',
      inFooter: false,
      disabled: none ?? (isConfigured ? undefined : `the config does not name ${name}`),
    },
  ];
}

const CHOOSE: BoundKey<LabIntent> = {
  intent: 'choose',
  keys: ['enter'],
  shown: 'Enter',
  label: 'choose',
  description: 'do what is chosen',
  inFooter: true,
};

const MOVES: readonly BoundKey<LabIntent>[] = [
  {
    intent: 'other',
    keys: ['up', 'down', 'k', 'j', 'tab'],
    shown: 'up/down',
    label: 'move',
    description: 'move to the other answer',
    inFooter: true,
  },
];

const CLOSE: BoundKey<LabIntent> = {
  intent: 'close',
  keys: ['escape', 'ctrl+c'],
  shown: 'Esc',
  label: 'back',
  description: 'go back to the lab',
  inFooter: true,
};
