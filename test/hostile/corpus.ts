/*
 * Texts that act on terminals, browsers and shells, that hide or that lie: what a service, a platform or a
 * file could say where a name or a reason is expected. Generated, so that the list names families and not
 * examples, and always the same.
 */

/** Stands in every text that is short enough for it to be seen: proof that the text was drawn at all. */
export const MARK = 'HURT';

/** By family. Every text is there once in all. */
export function families(): Readonly<Record<string, readonly string[]>> {
  const seen = new Set<string>();
  const fresh = (texts: readonly string[]) => texts.filter((text) => !seen.has(text) && seen.add(text));
  return Object.fromEntries(Object.entries(FAMILIES).map(([name, make]) => [name, fresh(make())]));
}

/** All of them, at least a thousand, longest last. */
export function corpus(): readonly string[] {
  return Object.values(families())
    .flat()
    .toSorted((a, b) => a.length - b.length);
}

const FAMILIES: Readonly<Record<string, () => readonly string[]>> = {
  controls: () => [...range(0, 0x1f), 0x7f, ...range(0x80, 0x9f)].flatMap((code) => around(chr(code))),
  escapes: () => range(0x20, 0x7e).map((code) => `\u001b${chr(code)}${MARK}`),
  'control sequences': () =>
    range(0x40, 0x7e).flatMap((final) => [`\u001b[35;1${chr(final)}${MARK}`, `\u009b2${chr(final)}${MARK}`]),
  modes: () =>
    [
      1, 5, 6, 7, 12, 25, 47, 66, 69, 1000, 1002, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026, 2031,
    ].flatMap((mode) => [`\u001b[?${mode}h${MARK}`, `\u001b[?${mode}l${MARK}`]),
  looks: () =>
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 21, 30, 35, 37, 40, 47, 53, 90, 97, 107, '38;5;9', '48;2;1;2;3', '4:3'].map(
      (look) => `\u001b[${look}m${MARK}\u001b[m`,
    ),
  'operating system commands': () =>
    [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 22, 50, 52, 66, 99, 104, 133, 777, 1337, 5522].flatMap((number) =>
      ['\u0007', '\u001b\\', '\u009c', ''].flatMap((end) => [
        `\u001b]${number};${OSC[number] ?? '?'}${end}${MARK}`,
        `\u009d${number};${OSC[number] ?? '?'}${end}${MARK}`,
      ]),
    ),
  'device, privacy and application strings': () =>
    ['P', 'X', '^', '_', 'k'].flatMap((kind) =>
      [
        '$q"p',
        '+q544e',
        'Gf=100,a=T;AAAA',
        'q#0;2;0;0;0',
        '1$r0m',
        'tmux;\u001b\u001b]52;c;SFVSVA==\u0007',
      ].flatMap((body) => [
        `\u001b${kind}${body}\u001b\\${MARK}`,
        `${chr(kind.charCodeAt(0) + 0x40)}${body}\u009c${MARK}`,
      ]),
    ),
  'questions a terminal answers': () =>
    ['\u0005', '\u001b[c', '\u001b[>c', '\u001b[6n', '\u001b[?6n', '\u001b[18t', '\u001b[21t', '\u001bZ'].map(
      (ask) => `${ask}${MARK}\r`,
    ),
  'lines that write over others': () => [
    `${MARK}\r\u001b[2Kall is well`,
    `${MARK}\b\b\b\bfine`,
    `${MARK}\u001b[1A\u001b[2Klifeboat: done`,
    `\n\n\n${MARK}\n$ `,
    `${MARK}\r\n\r\nhint: nothing was lost`,
    `${MARK}\u000b\u000cdown`,
    `${MARK}\u0085next\u2028line\u2029paragraph`,
    `${MARK}${' '.repeat(500)}far away`,
    `${MARK}${'\t'.repeat(100)}`,
  ],
  'reading order': () =>
    [0x61c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)].flatMap((code) => [
      ...around(chr(code)),
      `${chr(code)}${MARK}${chr(0x202c)} tset`,
    ]),
  invisible: () => invisible().flatMap((code) => [`${MARK}${chr(code)}${MARK}`]),
  'halves of characters': () =>
    ['\ud800', '\udbff', '\udc00', '\udfff', '\ud83d'].flatMap((half) => [
      `${half}${MARK}`,
      `${MARK}${half}`,
      `${half}\u001b[2J${MARK}`,
    ]),
  floods: () =>
    [0x300, 0x336, 0x33f, 0x489, 0x1ab0, 0x20dd, 0xe31, 0x64b].flatMap((mark) => [
      `H${chr(mark).repeat(40)}URT ${MARK}`,
      `${MARK}${chr(mark).repeat(4000)}`,
      `${chr(mark)}${MARK}`,
    ]),
  emoji: () => [
    `${MARK} \u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}`,
    `${MARK} \u{1f3f4}\u{e0067}\u{e0062}\u{e007f}`,
    `${MARK} \u2764\ufe0f \u263a\ufe0e`,
    `${MARK} ${'\u{1f9d1}\u200d\u{1f680}'.repeat(200)}`,
    `${MARK} \u{1f1e9}\u{1f1ea}\u{1f1e9}`,
    `${MARK} 1\ufe0f\u20e3`,
  ],
  'from right to left': () => [
    `${MARK} \u05d0\u05d1\u05d2 123 \u05d3`,
    `\u0627\u0644\u0646\u0633\u062e ${MARK} 7`,
    `\u202e${MARK}\u05d0`,
  ],
  'names that look like others': () =>
    [...'aceopsxyAEOPX'].map((letter, at) => `${MARK} ord${HOMOGLYPHS[at] ?? letter}rs`),
  markdown: () =>
    MARKDOWN.flatMap((text) => [text.replaceAll('HURT', MARK), `${MARK} ${text}`, `${MARK}\n${text}`]),
  'pages and pictures': () =>
    HTML.flatMap((text) => [text, `">${text}`, `'>${text}`, `--></style></script></title>${text}`]),
  'styles and addresses': () => STYLES.flatMap((text) => [text, `"${text}"`, `${MARK}' ${text}`]),
  shells: () => SHELL.flatMap((text) => [text, `'${text}'`, `"${text}"`, `${MARK}\n${text}`]),
  'cells of a sheet': () =>
    ['=', '+', '-', '@', '\t=', '|', ';=', '"="'].map((start) => `${start}cmd|' /C calc'!A1 ${MARK}`),
  'escaped once more': () =>
    [
      '\\u001b]0;',
      '\\x1b[2J',
      '\\033[8m',
      '%1b%5b2J',
      '&#27;[2J',
      '\\e[31m',
      '^[[31m',
      '\\u202e',
      '$\\e]52;',
    ].map((text) => `${text}${MARK}`),
  paths: () =>
    ['../../', '/etc/passwd', '..\\..\\', 'C:\\', '\0/', '.', '..', '-rf', '~/', 'a/'.repeat(300)].map(
      (text) => `${text}${MARK}`,
    ),
  formats: () =>
    ['%s%n%x', '{{7*7}}', '$((7*7))', '<%= 7 %>', '#{7}', '__proto__', 'constructor'].map(
      (text) => `${text} ${MARK}`,
    ),
  endless: () => [
    `${MARK}${'x'.repeat(2 ** 20)}`,
    `${MARK}${'\u001b[2J'.repeat(2 ** 18)}`,
    `${MARK}${'\u202e'.repeat(2 ** 20)}`,
    `${MARK}${'<b>'.repeat(2 ** 18)}`,
    `${MARK}${'e\u0301'.repeat(2 ** 19)}`,
    `${MARK}${"'".repeat(2 ** 20)}`,
  ],
};

const OSC: Readonly<Record<number, string>> = {
  0: 'all is well',
  8: ';https://evil.example/',
  9: '4;1;50',
  52: 'c;SFVSVA==',
  1337: 'File=inline=1:AAAA',
  777: 'notify;a;b',
};

const HOMOGLYPHS = [...'\u0430\u0441\u0435\u043e\u0440\u0455\u0445\u0443\u0410\u0415\u041e\u0420\u0425'];

const MARKDOWN = [
  '[HURT](https://evil.example)',
  '![HURT](https://evil.example/a.png)',
  '<https://evil.example>',
  'https://evil.example/HURT',
  'www.evil.example/HURT',
  '[HURT][1]\n\n[1]: javascript:alert(1)',
  '**HURT** __HURT__ ~~HURT~~ `HURT`',
  '`` HURT ` HURT',
  '```\nHURT',
  '| HURT | HURT |\n|---|---|',
  '# HURT',
  'HURT\n===',
  '> HURT',
  '- [x] HURT',
  '---',
  '<details><summary>HURT',
  '<!-- HURT',
  '&lt;b&gt;HURT &#60;b&#62;',
  '\\[HURT\\](x) \\`HURT`',
  '$\\color{red}{HURT}$',
  '[^1]: HURT',
  'HURT \\',
];

const HTML = [
  '<script>document.title="HURT"</script>',
  '<img src=x onerror="document.title=`HURT`">',
  '<svg onload="document.title=`HURT`"><circle r="9"/></svg>',
  '<svg><script>document.title="HURT"</script></svg>',
  '<svg><foreignObject><body onload="document.title=`HURT`"></foreignObject></svg>',
  '<svg><a xlink:href="javascript:document.title=1"><text>HURT</text></a></svg>',
  '<iframe srcdoc="<script>parent.document.title=1</script>HURT"></iframe>',
  '<a href="javascript:document.title=1">HURT</a>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/HURT">',
  '<base href="https://evil.example/">HURT',
  '<link rel="stylesheet" href="https://evil.example/HURT.css">',
  '<style>body{display:none}</style>HURT',
  '<form action="https://evil.example"><button autofocus onfocus="document.title=1">HURT',
  '<details open ontoggle="document.title=1">HURT',
  '<math><mtext><table><mglyph><style><img src onerror="document.title=1">HURT',
  '<template><b>HURT</b></template>',
  '<!--><img src onerror="document.title=1">HURT-->',
  '<![CDATA[<b>HURT</b>]]>',
  '<?xml version="1.0"?><b>HURT</b>',
  '" onmouseover="document.title=1" x="HURT',
  "' onmouseover='document.title=1' x='HURT",
  '</title><b>HURT</b>',
  '</text></svg><b>HURT</b>',
  '</textarea><b>HURT</b>',
  '&#60;b&#62;HURT&#x3c;/b&#x3e;',
];

const STYLES = [
  'javascript:document.title="HURT"',
  'JaVaScRiPt:document.title="HURT"',
  'java\tscript:document.title="HURT"',
  'data:text/html,<b>HURT</b>',
  'vbscript:HURT',
  'red;background:url(https://evil.example/HURT)',
  '} body{display:none} /* HURT',
  'expression(HURT)',
  'url("https://evil.example/HURT")',
  '@import "https://evil.example/HURT";',
];

const SHELL = [
  '$(touch HURT)',
  '`touch HURT`',
  '; touch HURT;',
  '| touch HURT',
  '|| touch HURT',
  '& touch HURT &',
  '> HURT',
  '< HURT',
  '\\\n touch HURT #',
  "'; touch HURT; '",
  '"; touch HURT; "',
  "'\\''; touch HURT; '",
  '$IFS HURT',
  '*HURT*',
  '~HURT',
  '!HURT !! !$',
  '{HURT,b}',
  '--help HURT',
  '-o ProxyCommand=HURT',
  'EOF\ntouch HURT\nEOF',
  '\n touch HURT\n',
  '\r touch HURT',
  '# HURT',
];

/**
 * Every character that formats or that Unicode draws as nothing; of the long runs of unassigned ones, some.
 */
function invisible(): number[] {
  const all = range(0x80, 0x10ffff).filter((code) => /[\p{Cf}\p{DI}\p{Zl}\p{Zp}]/u.test(chr(code)));
  return all.filter((code, at) => code < 0xe0000 || at % 40 === 0);
}

function around(character: string): string[] {
  return [`${character}${MARK}`, `${MARK}${character}${MARK}`];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

function chr(code: number): string {
  return String.fromCodePoint(code);
}
