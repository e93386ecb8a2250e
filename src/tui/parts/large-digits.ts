/**
 * A time such as `14:32:05` in three rows of plain characters, as a clock radio shows it; anything else is
 * left blank. All rows are equally wide.
 */
export function largeDigits(text: string): readonly [string, string, string] {
  const forms = Array.from(text, (character) => FORMS[character] ?? BLANK);
  const row = (at: 0 | 1 | 2) => forms.map((form) => form[at]).join(' ');
  return [row(0), row(1), row(2)];
}

type Form = readonly [string, string, string];

const BLANK: Form = ['   ', '   ', '   '];

const FORMS: Readonly<Record<string, Form>> = {
  '0': [' _ ', '| |', '|_|'],
  '1': ['   ', '  |', '  |'],
  '2': [' _ ', ' _|', '|_ '],
  '3': [' _ ', ' _|', ' _|'],
  '4': ['   ', '|_|', '  |'],
  '5': [' _ ', '|_ ', ' _|'],
  '6': [' _ ', '|_ ', '|_|'],
  '7': [' _ ', '  |', '  |'],
  '8': [' _ ', '|_|', '|_|'],
  '9': [' _ ', '|_|', ' _|'],
  ':': [' ', '.', '.'],
};
