import { describe, expect, it } from 'vitest';
import { isNoReason } from '../../src/base/reason.ts';

describe('a text that is given as a reason', () => {
  it.each(['', '  ', 'x', 'xxx', '-', '...', 'no', 'No.', 'YES', 'ok', 'n/a', '1', 'skip', 'because'])(
    'is not accepted as a reason where it is %j',
    (text) => {
      expect(isNoReason(text)).toBe(true);
    },
  );

  it.each(['busy', 'retired', 'no key', 'a test', 'INC-4711', 'DR test', '停電', 'done by Mira'])(
    'is accepted as a reason where it is %j, however short',
    (text) => {
      expect(isNoReason(text)).toBe(false);
    },
  );
});
