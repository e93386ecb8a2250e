import { expect, test } from 'vitest';
import { redact } from '../../src/base/redact.ts';
import { Secret } from '../../src/base/secret.ts';
import { createSecretGuard } from '../../src/store/secret-guard.ts';

const KEY = 'p4ss/Wörd "with" <it\'s> +spaces & \\slash=`';
const html = (table: Readonly<Record<string, string>>) => [...KEY].map((one) => table[one] ?? one).join('');
const BASIC = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const coded = (code: (point: number) => string) =>
  [...KEY].map((one) => code(one.codePointAt(0) ?? 0)).join('');

const ECHOES: Readonly<Record<string, string>> = {
  'as it is': KEY,
  'in HTML, as Go escapes it': html({ ...BASIC, '"': '&#34;', "'": '&#39;' }),
  'in HTML, as Python escapes it': html({ ...BASIC, '"': '&quot;', "'": '&#x27;' }),
  'in HTML, as PHP escapes it': html({ ...BASIC, '"': '&quot;', "'": '&#039;' }),
  'in HTML, as mustache escapes it': html({
    ...{ ...BASIC, '"': '&quot;', "'": '&#39;' },
    ...{ '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
  }),
  'in XML': html({ ...BASIC, '"': '&quot;', "'": '&apos;' }),
  'in HTML, without the quotes': html(BASIC),
  'in HTML, as numbers': coded((point) => `&#${point};`),
  'in HTML, as hex numbers': coded((point) => `&#x${point.toString(16)};`),
  'in JSON in HTML': JSON.stringify({ key: KEY }).replaceAll(
    /[&<>"]/gu,
    (one) => ({ ...BASIC, '"': '&quot;' })[one] ?? '',
  ),
  'in JSON, as Go escapes it': JSON.stringify(KEY).replaceAll(
    /[<>&]/gu,
    (one) => `\\u00${one.charCodeAt(0).toString(16)}`,
  ),
  'in JSON, as PHP escapes it': JSON.stringify(KEY).replaceAll('/', '\\/'),
  'in JSON in JSON': JSON.stringify(JSON.stringify({ key: KEY })),
  'in a URL': encodeURIComponent(KEY),
  'in hex': Buffer.from(KEY).toString('hex'),
  'in base64': Buffer.from(KEY).toString('base64'),
  'in basic authorization': Buffer.from(`user:${KEY}`).toString('base64'),
};

test.each(Object.entries(ECHOES))('a key that is echoed %s is blanked, and the guard finds it', (_, echo) => {
  const said = `the request was: ${echo} (refused)`;
  expect(redact(said, [new Secret(KEY)])).toMatch(/^the request was: .{0,200}\[secret\].{0,9} \(refused\)$/u);
  const guard = createSecretGuard();
  guard.add(new Secret(KEY));
  guard.check(JSON.stringify({ said: redact(said, [new Secret(KEY)]) }), 'the entry');
  expect(() => guard.check(JSON.stringify({ said }), 'the entry')).toThrow(
    expect.objectContaining({
      code: 'journal.secret',
      hints: expect.arrayContaining([expect.stringContaining('lifeboat audit show last')]),
    }),
  );
});

test('a short secret is searched for only as it is: encoded, it would be found in ordinary words', () => {
  expect(redact('cnVu and 72756e, run', [new Secret('run')])).toBe('cnVu and 72756e, [secret]');
});
