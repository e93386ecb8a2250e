/*
 * Tars that want out, want more or want to be something else, as a hijacked service would send them. By name.
 */

interface Header {
  readonly name?: string | Buffer;
  readonly type?: string;
  readonly link?: string;
  readonly mode?: string;
  /** As it stands in the header. Default: the length of the content, in octal. */
  readonly size?: string | Buffer;
  readonly content?: string | Buffer;
  readonly prefix?: string;
  readonly magic?: string;
  readonly checksum?: 'right' | 'wrong' | 'none';
}

/** At least two hundred of them. */
export function hostileTars(): ReadonlyMap<string, Buffer> {
  const all = new Map<string, Buffer>();
  const add = (name: string, ...entries: readonly Header[]) =>
    all.set(name, Buffer.concat([...entries.map(entry), Buffer.alloc(1024)]));

  for (const path of OUTSIDE) {
    add(`a file at ${JSON.stringify(path)}`, { name: path, content: 'out' });
    add(`a folder at ${JSON.stringify(path)}`, { name: `${path}/`, type: '5' });
    add(`a symlink to ${JSON.stringify(path)}`, { name: 'link', type: '2', link: path });
    add(`a hard link to ${JSON.stringify(path)}`, { name: 'link', type: '1', link: path });
    add(
      `a file through a symlink to ${JSON.stringify(path)}`,
      { name: 'd', type: '2', link: path },
      { name: 'd/evil', content: 'out' },
    );
    add(`a file at ${JSON.stringify(path)} by a long name`, long('L', path), {
      name: 'short',
      content: 'out',
    });
    add(`a file at ${JSON.stringify(path)} by pax`, pax({ path }), { name: 'short', content: 'out' });
    add(`a symlink to ${JSON.stringify(path)} by pax`, pax({ linkpath: path }), {
      name: 'short',
      type: '2',
      link: 'x',
    });
    add(`a file below ${JSON.stringify(path)} by its prefix`, { name: 'evil', prefix: path, content: 'out' });
    add(
      `a sparse file at ${JSON.stringify(path)}`,
      pax({ 'GNU.sparse.name': path, 'GNU.sparse.major': '1' }),
      { name: 's' },
    );
  }
  for (const type of ['3', '4', '6', 'S', 'V', 'M', 'N', 'D', 'A', '8', 'Z', '\u0001', '\u00ff'])
    add(`an entry of type ${JSON.stringify(type)}`, { name: 'special', type });
  for (const mode of [
    '0004755',
    '0002755',
    '0001777',
    '0007777',
    '9999999',
    '-000001',
    '\u0080\0\0\0\0\0\u000f\u00ff',
  ])
    add(`a mode of ${JSON.stringify(mode)}`, { name: 'mode', mode, content: 'x' });
  for (const [at, size] of SIZES.entries()) add(`a size that is none, ${at}`, { name: 'size', size });
  for (const size of ['-1', '99999999999999999999', '1e9', '0x10', ' 5', '5.5', '', '9007199254740992'])
    add(`a size of ${JSON.stringify(size)} by pax`, pax({ size }), { name: 'size', content: 'x' });
  for (const [one, other] of SAME)
    add(
      `${JSON.stringify(one)} beside ${JSON.stringify(other)}`,
      { name: one, content: '1' },
      { name: other, content: '2' },
    );
  add('a file where a folder is', { name: 'a/b', content: '1' }, { name: 'a', content: '2' });
  add('a folder where a file is', { name: 'a', content: '1' }, { name: 'a/b', content: '2' });
  add('a file over a symlink', { name: 'a', type: '2', link: 'b' }, { name: 'a', content: '2' });
  add('a symlink to itself', { name: 'a', type: '2', link: 'a' });
  add('symlinks in a ring', { name: 'a', type: '2', link: 'b' }, { name: 'b', type: '2', link: 'a' });
  add('a hard link to itself', { name: 'a', type: '1', link: 'a' });
  add('a hard link to a symlink', { name: 's', type: '2', link: 'x' }, { name: 'h', type: '1', link: 's' });
  add('a hard link to a folder', { name: 'd/', type: '5' }, { name: 'h', type: '1', link: 'd' });
  add(
    'two symlinks that lead out together',
    { name: 'a', type: '2', link: 'b/..' },
    { name: 'b', type: '2', link: '..' },
  );
  for (const name of NAMES)
    add(`a name like ${JSON.stringify(name.slice(0, 30))}`, { name, content: 'x' }, long('L', name), {
      name: 'l',
      content: 'y',
    });
  for (const bytes of [
    Buffer.from('ff00fe', 'hex'),
    Buffer.from('c328', 'hex'),
    Buffer.from('eda080', 'hex'),
  ])
    add(`a name that is no UTF-8: ${bytes.toString('hex')}`, { name: bytes, content: 'x' });
  for (const record of PAX)
    add(
      `pax records like ${JSON.stringify(record.slice(0, 30))}`,
      { type: 'x', content: record },
      { name: 'p', content: 'x' },
    );
  for (const magic of ['', 'ustar  \0', 'ustar\x0099', 'USTAR', '\0\0\0\0\0\0\0\0'])
    add(`a magic of ${JSON.stringify(magic)}`, { name: 'm', magic, content: 'x' });
  for (const checksum of ['wrong', 'none'] as const)
    add(`a checksum that is ${checksum}`, { name: 'good', content: 'x' }, { name: 'c', checksum });
  const whole = Buffer.concat([
    entry({ name: 'a', content: 'x'.repeat(2_000) }),
    entry({ name: 'b', content: 'y' }),
    Buffer.alloc(1024),
  ]);
  for (const length of [1, 100, 511, 512, 513, 1_500, 2_560, 2_600, 3_071, 3_500])
    all.set(`cut after ${length} bytes`, whole.subarray(0, length));
  for (const extra of [1, 511, 512, 4_096])
    all.set(`${extra} bytes behind the end`, Buffer.concat([whole, Buffer.alloc(extra, 0x41)]));
  all.set(
    'meta entries without end',
    Buffer.concat(Array.from({ length: 3_000 }, () => entry(long('L', 'n')))),
  );
  all.set(
    'ten thousand entries',
    Buffer.concat(Array.from({ length: 10_000 }, (_, at) => entry({ name: `f${at}` }))),
  );
  all.set(
    'a path a thousand folders deep',
    Buffer.concat([entry(long('L', `${'d/'.repeat(1_000)}f`)), entry({ name: 'x', content: 'x' })]),
  );
  return all;
}

const OUTSIDE = [
  '/evil',
  '//evil',
  '../evil',
  'a/../../evil',
  './../evil',
  'a/./../../evil',
  '..',
  'a/..',
  '../../../../../../tmp/evil',
  '..\\evil',
  'C:\\evil',
  '/dev/null',
  '/proc/self/environ',
  '~/evil',
  'evil\0.txt',
  '.\u2024/evil',
] as const;

const SIZES: readonly (string | Buffer)[] = [
  '-0000000001',
  '99999999999',
  '77777777777',
  'xxxxxxxxxxx',
  '1 2 3 4 5 6',
  '\0\0\0\0\0\0\0\0\0\0\0',
  '00000000009',
  Buffer.from(`80${'ff'.repeat(11)}`, 'hex'),
  Buffer.from('ff'.repeat(12), 'hex'),
  Buffer.from(`80${'00'.repeat(4)}ffffffffffffff`, 'hex'),
  Buffer.from(`c0${'00'.repeat(11)}`, 'hex'),
  Buffer.from('800000000000010000000000', 'hex'),
];

const SAME = [
  ['a', 'a'],
  ['a', 'A'],
  ['\u00e9', 'e\u0301'],
  ['\u00df', 'ss'],
  ['a', './a'],
  ['a', 'a/'],
  ['a', 'a//'],
  ['K', '\u212a'],
  ['i', '\u0131'],
] as const;

const NAMES = [
  '',
  '.',
  './',
  ' ',
  '-rf',
  '*',
  'con',
  'nul.txt',
  'a:b',
  'a\nb',
  '\u001b]0;x\u0007',
  '\u202egpj.exe',
  'x'.repeat(300),
  'x'.repeat(5_000),
  '$(touch evil)',
  ';touch evil',
  '%s%n',
  '\ud800',
  '.bashrc',
  '.git/config',
  'a\u0000b',
];

const PAX = [
  '0 path=x\n',
  '9999999 path=x\n',
  '-1 path=x\n',
  '11 path=../x',
  '12 path\n',
  ' path=x\n',
  '5 =x\n',
  'x',
  '\0'.repeat(512),
  '18 __proto__=evil\n',
  '10 path=\n',
  '30 path=a\n30 path=b\n',
  '11 path=a\0b\n',
];

function long(type: 'L' | 'K', name: string): Header {
  return { name: '././@LongLink', type, content: `${name}\0` };
}

function pax(records: Readonly<Record<string, string>>): Header {
  const lines = Object.entries(records).map(([name, value]) => {
    const rest = ` ${name}=${value}\n`;
    const length = Buffer.byteLength(rest);
    const digits = String(length + String(length).length).length;
    return `${length + digits}${rest}`;
  });
  return { name: 'PaxHeaders/x', type: 'x', content: lines.join('') };
}

function entry({
  name = 'x',
  type = '0',
  link = '',
  mode = '0000644',
  size,
  content = '',
  prefix = '',
  magic,
  checksum = 'right',
}: Header): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(512);
  (typeof name === 'string' ? Buffer.from(name) : name).copy(header, 0, 0, 100);
  header.write(mode, 100, 8, 'latin1');
  const length = size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`;
  (typeof length === 'string' ? Buffer.from(length, 'latin1') : length).copy(header, 124, 0, 12);
  header.write(type, 156, 1, 'latin1');
  header.write(link, 157, 100);
  header.write(magic ?? 'ustar\x0000', 257, 8, 'latin1');
  header.write(prefix, 345, 155);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, checksum === 'wrong' ? 1 : 0);
  if (checksum !== 'none') header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc(-bytes.length & 511)]);
}
