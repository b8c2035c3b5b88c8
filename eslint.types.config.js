import tseslint from 'typescript-eslint';

/** Each TypeScript program with its files, and those of them that belong to another: the console's pages run in browsers, with other types. */
const programs = [
  ['./tsconfig.check.json', ['packages/*/{src,test}/**/*.ts', 'examples/*/{src,test}/**/*.ts'], ['packages/console/test/**']],
  ['./packages/console/web/tsconfig.json', ['packages/console/{web,test}/**/*.{ts,tsx}'], []],
];

/**
 * The rules that need types, in a run of their own (`npm run lint:types`): it loads the whole program first, which the other rules, run on a
 * file at each save, need not wait for.
 */
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.nx/', '.strongroom/', 'packages/console/ui/'] },
  // Directives for the other rules are used in the other run.
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
  ...programs.map(([project, files, ignores]) => ({
    files,
    ignores,
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: [project], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-enum-comparison': 'error',
      '@typescript-eslint/no-unsafe-function-type': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/no-unsafe-unary-minus': 'error',
    },
  })),
);
