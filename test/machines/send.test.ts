import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { createSendMachine, type SendEvent } from '../../machines/send.ts';
import { advance, isInDoubt, isOver, type Send } from '../../machines/send-state.ts';

const AT = '2026-11-21T03:00:00.000Z';
const failure = { code: 'service.busy', shortMessage: 'too many requests', hints: [], evidence: {} };
const credentials = { ...failure, code: 'credentials.refused' };

/** Everything that can become known of a send, each with every answer that leads elsewhere. */
const EVENTS: readonly SendEvent[] = [
  { type: 'prepared', baseline: [1], verb: 'restoreBackup' },
  { type: 'armed', at: AT },
  { type: 'takenUp', at: AT },
  { type: 'landed', output: { landed: true, id: 3, adopted: false } },
  { type: 'refused', failure, at: AT },
  { type: 'refused', failure: credentials, at: AT },
  { type: 'neverLeft', failure, at: AT },
  { type: 'neverLeft', failure: credentials, at: AT },
  { type: 'lost', failure, isRefusal: false, at: AT },
  { type: 'lost', failure, isRefusal: true, at: AT },
  { type: 'showsNothing' },
  { type: 'absent' },
  { type: 'unclear', failure },
  { type: 'adopted', output: { landed: true, id: 4, adopted: true } },
  { type: 'givenUp' },
];

interface Path {
  readonly send: Send | undefined;
  readonly events: readonly SendEvent['type'][];
  readonly armings: number;
}

/** Every path of at most two armings that enters no state twice between two armings. */
function everyPath(): readonly Path[] {
  const found: Path[] = [];
  const queue: (Path & { readonly passed: readonly string[] })[] = [
    { send: undefined, events: [], armings: 0, passed: [] },
  ];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    found.push(path);
    for (const event of EVENTS) {
      const send = advance(path.send, event);
      if (send === path.send || JSON.stringify(send) === JSON.stringify(path.send)) continue;
      const isArmed = send?.state === 'armed';
      const armings = path.armings + (isArmed ? 1 : 0);
      const state = send?.state ?? 'preparing';
      if (armings > 2 || (!isArmed && path.passed.includes(state))) continue;
      const passed = isArmed ? [] : [...path.passed, state];
      queue.push({ send, events: [...path.events, event.type], armings, passed });
    }
  }
  return found;
}

const paths = everyPath();

describe('one send, on every path', () => {
  it('is armed again only after a refusal and a look that showed nothing, or where no byte had left', () => {
    const again = paths.filter(({ send, armings }) => send?.state === 'armed' && armings > 1);
    expect(again.length).toBeGreaterThan(3);
    for (const { events } of again) {
      const since = events.slice(events.lastIndexOf('armed', events.length - 2) + 1, -1);
      const isProven =
        (since.some((type) => type === 'refused' || type === 'neverLeft') &&
          since.includes('showsNothing')) ||
        since.includes('neverLeft');
      expect(isProven, events.join(' > ')).toBe(true);
    }
  });

  it('is never armed again once its answer was lost', () => {
    for (const { events, send } of paths) {
      if (send?.state !== 'armed') continue;
      expect(events, events.join(' > ')).not.toContain('lost');
      expect(events, events.join(' > ')).not.toContain('takenUp');
    }
  });

  it('is in doubt from its arming until an answer, a look or a person says what became of it', () => {
    const ends = new Set(['landed', 'absent', 'refused', 'neverLeft', 'adopted', 'givenUp']);
    for (const { events, send, armings } of paths) {
      if (armings === 0) continue;
      const since = events.slice(events.lastIndexOf('armed') + 1);
      const said =
        since.some((type) => ends.has(type)) &&
        since.lastIndexOf('lost') < since.findLastIndex((type) => ends.has(type));
      expect(send !== undefined && isInDoubt(send), events.join(' > ')).toBe(!said);
    }
  });

  it('keeps its final state, whatever is reported later', () => {
    const over = paths.filter(({ send }) => send !== undefined && isOver(send));
    expect(new Set(over.map(({ send }) => send?.state))).toEqual(new Set(['landed', 'absent', 'notSent']));
    const ends = new Map(over.map(({ send }) => [JSON.stringify(send), send]));
    for (const send of ends.values()) for (const event of EVENTS) expect(advance(send, event)).toEqual(send);
  });

  it('keeps the time when it was first armed, whatever came between', () => {
    let send: Send | undefined;
    const later = '2026-11-21T03:05:00.000Z';
    for (const event of [
      { type: 'prepared', baseline: [1] },
      { type: 'armed', at: AT },
      { type: 'refused', failure, at: AT },
      { type: 'showsNothing' },
      { type: 'armed', at: later },
    ] satisfies SendEvent[])
      send = advance(send, event);
    expect(send).toMatchObject({ state: 'armed', armedAt: later, firstArmedAt: AT, baseline: [1] });
    expect(send?.answer).toBeUndefined();
  });
});

it('every state of a send can be reached, and every state that is not final can be left', () => {
  const machine = createSendMachine();
  const reached = new Set(paths.map(({ send }) => send?.state ?? 'preparing'));
  const leaves = (node: AnyStateNode): AnyStateNode[] =>
    Object.keys(node.states).length === 0 ? [node] : Object.values(node.states).flatMap(leaves);
  expect([...reached].sort()).toEqual(
    leaves(machine.root)
      .map(({ key }) => key)
      .sort(),
  );
  for (const state of reached) {
    const path = paths.find(({ send }) => (send?.state ?? 'preparing') === state);
    if (path?.send !== undefined && isOver(path.send)) continue;
    expect(
      EVENTS.some((event) => advance(path?.send, event)?.state !== path?.send?.state),
      state,
    ).toBe(true);
  }
});
