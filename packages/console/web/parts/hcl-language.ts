import { StreamLanguage } from '@codemirror/language';

interface State {
  /** Within a comment of several lines. */
  comment: boolean;
}

/** HCL 1 as policies are written in it, and JSON, for colours alone. */
export function hcl(): StreamLanguage<State> {
  return StreamLanguage.define<State>({
    name: 'hcl',
    startState: () => ({ comment: false }),
    token: (stream, state) => {
      if (state.comment) {
        if (stream.skipTo('*/')) {
          stream.match('*/');
          state.comment = false;
        } else stream.skipToEnd();
        return 'comment';
      }
      if (stream.eatSpace()) return null;
      if (stream.match('/*')) {
        state.comment = true;
        return 'comment';
      }
      if (stream.match(/^(#|\/\/)/)) {
        stream.skipToEnd();
        return 'comment';
      }
      if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return 'propertyName';
      if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
      if (stream.match(/^-?\d+(?:\.\d+)?/)) return 'number';
      if (stream.match(/^(?:true|false)\b/)) return 'bool';
      if (stream.match(/^(?:path|rule)\b/)) return 'keyword';
      if (stream.match(/^[A-Za-z_][\w-]*/)) return 'propertyName';
      stream.next();
      return null;
    },
    languageData: { commentTokens: { line: '#', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
  });
}
