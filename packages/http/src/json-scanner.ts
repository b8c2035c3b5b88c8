/** What `JSON.parse` does not tell: where the first value of a text ends, or what is wrong with it, in the words of Go's decoder. */
export type FirstValue = { readonly end: number } | { readonly fault: string };

class Fault {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The caller has bounded the nesting. An empty text (or only white space) has the fault `EOF`. */
export function scanFirstValue(text: string): FirstValue {
  const scanner = new Scanner(text);
  try {
    if (scanner.blank()) return { fault: 'EOF' };
    scanner.value();
    return { end: scanner.at };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.text };
    throw error;
  }
}

class Scanner {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Skips white space; true at the end of the text. */
  blank(): boolean {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.at))) this.at += 1;
    return this.at >= this.#text.length;
  }

  value(): void {
    const char = this.#next();
    if (char === '{') this.#object();
    else if (char === '[') this.#list();
    else if (char === '"') this.#string();
    else if (char === '-' || /\d/.test(char)) this.#number(char);
    else if (char === 't') this.#literal('true');
    else if (char === 'f') this.#literal('false');
    else if (char === 'n') this.#literal('null');
    else this.#refuse(char, 'looking for beginning of value');
  }

  #object(): void {
    let char = this.#next();
    if (char === '}') return;
    for (;;) {
      if (char !== '"') this.#refuse(char, 'looking for beginning of object key string');
      this.#string();
      char = this.#next();
      if (char !== ':') this.#refuse(char, 'after object key');
      this.value();
      char = this.#next();
      if (char === '}') return;
      if (char !== ',') this.#refuse(char, 'after object key:value pair');
      char = this.#next();
    }
  }

  #list(): void {
    if (!this.blank() && this.#text.charAt(this.at) === ']') {
      this.at += 1;
      return;
    }
    for (;;) {
      this.value();
      const char = this.#next();
      if (char === ']') return;
      if (char !== ',') this.#refuse(char, 'after array element');
    }
  }

  #string(): void {
    for (;;) {
      const char = this.#take();
      if (char === '"') return;
      if (char < ' ') this.#refuse(char, 'in string literal');
      if (char !== '\\') continue;
      const escape = this.#take();
      if (escape === 'u') {
        for (let digits = 0; digits < 4; digits += 1) {
          const digit = this.#take();
          if (!/[0-9a-fA-F]/.test(digit)) this.#refuse(digit, 'in \\u hexadecimal character escape');
        }
      } else if (!'"\\/bfnrt'.includes(escape)) this.#refuse(escape, 'in string escape code');
    }
  }

  #number(first: string): void {
    let char = first;
    if (char === '-') {
      char = this.#take();
      if (!/\d/.test(char)) this.#refuse(char, 'in numeric literal');
    }
    if (char !== '0') this.#digits();
    if (this.#text.charAt(this.at) === '.') {
      this.at += 1;
      this.#firstDigit('after decimal point in numeric literal');
    }
    if (/^[eE]$/.test(this.#text.charAt(this.at))) {
      this.at += 1;
      if (/^[+-]$/.test(this.#text.charAt(this.at))) this.at += 1;
      this.#firstDigit('in exponent of numeric literal');
    }
  }

  #firstDigit(where: string): void {
    const char = this.#take();
    if (!/\d/.test(char)) this.#refuse(char, where);
    this.#digits();
  }

  #digits(): void {
    while (/^\d$/.test(this.#text.charAt(this.at))) this.at += 1;
  }

  #literal(word: string): void {
    for (const expected of word.slice(1)) {
      const char = this.#take();
      if (char !== expected) this.#refuse(char, `in literal ${word} (expecting '${expected}')`);
    }
  }

  /** The next character behind white space. */
  #next(): string {
    this.blank();
    return this.#take();
  }

  #take(): string {
    if (this.at >= this.#text.length) throw new Fault('unexpected EOF');
    const char = this.#text.charAt(this.at);
    this.at += 1;
    return char;
  }

  #refuse(char: string, where: string): never {
    const shown = char === "'" ? `'\\''` : `'${JSON.stringify(char).slice(1, -1).replace('\\"', '"')}'`;
    throw new Fault(`invalid character ${shown} ${where}`);
  }
}
