import { TextInput, type TextInputProps } from 'react-admin';

/** What a user has typed, until it is sent: the form keeps a text that is not yet JSON. */
class JsonText {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

const format = (value: unknown): string => {
  if (value instanceof JsonText) return value.text;
  return value === null || value === undefined ? '' : JSON.stringify(value, undefined, 2);
};

const parse = (text: string): JsonText | null => (text.trim() === '' ? null : new JsonText(text));

function validate(value: unknown): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

/** A text area for a value of any form, with the error of the parser. The form needs `toValues` as its `transform`. */
export const JsonInput = ({ validate: others = [], ...props }: TextInputProps) => (
  <TextInput {...props} multiline format={format} parse={parse} validate={[others, validate].flat()} />
);

/** The values of a form as they are sent. */
export const toValues = (values: object): object => JSON.parse(JSON.stringify(values)) as object;
