import { dirname, join, relative, sep } from 'node:path';
import { importGraph, membersOf } from './import-graph.js';

/**
 * Imports go one way. No two files and no two folders of a package depend on each other, however long the circle is; and where floors are declared, a
 * file imports from its own floor's room and from lower floors only. Imports of types and dynamic imports count.
 *
 * Options: `floors` gives the order of a folder's members (`''` is `src` itself), the lowest first. Members of one floor, where it has several, do not
 * import each other. A folder with floors has no member that is on none of them.
 */
export const oneWay = {
  meta: {
    type: 'problem',
    docs: { description: 'imports go down the floors, and never in a circle' },
    schema: [
      {
        type: 'object',
        properties: {
          floors: {
            type: 'object',
            additionalProperties: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
          },
        },
        additionalProperties: false,
      },
    ],
    messages: {
      upward: '{{from}} may not import {{to}}: in {{folder}}, {{to}} is on a higher floor (lint/floors.js)',
      sideways:
        '{{from}} may not import {{to}}: in {{folder}}, both are on one floor, and such rooms do not know each other (lint/floors.js)',
      unknown: '{{member}} is on no floor of {{folder}}: give it a place in lint/floors.js',
      circle: 'This import closes a circle in {{folder}}: {{members}}',
    },
  },
  create(context) {
    const src = /^(.*[\\/]src)[\\/]/.exec(context.filename)?.[1];
    if (src === undefined) return {};
    const { floors = {} } = context.options[0] ?? {};
    const check = (node) => {
      const specifier = node.source?.value;
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const target = join(dirname(context.filename), specifier);
      if (relative(src, target).startsWith('..')) return;
      const { folder, members } = membersOf(src, context.filename, target);
      const data = { folder: folder === '' ? 'src' : folder.split(sep).join('/'), from: members[0], to: members[1] };
      const order = floors[folder];
      if (order) {
        const [from, to] = members.map((member) => order.findIndex((floor) => floor.includes(member)));
        if (from < 0 || to < 0) {
          context.report({ node, messageId: 'unknown', data: { ...data, member: members[from < 0 ? 0 : 1] } });
        } else if (to > from) context.report({ node, messageId: 'upward', data });
        else if (to === from && members[0] !== members[1]) context.report({ node, messageId: 'sideways', data });
      }
      const circle = importGraph(src).circle(context.filename, target);
      if (circle) context.report({ node, messageId: 'circle', data: { ...data, members: circle.join(', ') } });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: (node) => check({ ...node, source: node.source ?? node.argument?.literal }),
    };
  },
};
