import fc from 'fast-check';
import { test } from 'vitest';
import { isMeant, judgedUntil } from '../../src/tui/screens/run/screen-state.ts';

const time = fc.integer({ min: 0, max: 5_000 });

test('after the judged time no key is rejected because of when it may have been pressed', () => {
  const keyboards = fc.record({ quietSince: time, before: fc.option(time, { nil: undefined }) });
  fc.assert(
    fc.property(keyboards, time, time, ({ quietSince, before }, late, read) => {
      const keyboard = {
        quietSince,
        ...(before !== undefined && { before: { key: 'enter', at: before } }),
      };
      const since = judgedUntil(keyboard) + late;
      return isMeant(keyboard, { key: 'enter', since, now: since + read });
    }),
  );
});

test('before the judged time a key is rejected', () => {
  fc.assert(
    fc.property(time, time, (quietSince, before) => {
      const keyboard = { quietSince, before: { key: 'enter', at: before } };
      const since = judgedUntil(keyboard) - 1;
      return !isMeant(keyboard, { key: 'enter', since, now: since });
    }),
  );
});
