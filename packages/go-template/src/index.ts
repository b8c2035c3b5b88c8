export { globMatches } from './glob.ts';
export { randomFunction, utf16le } from './string-functions.ts';
export { compileTemplate } from './template.ts';
export type { Template, TemplateData, TemplateOptions } from './template.ts';
export { TemplateFunctionError, TemplateRenderError, TemplateSyntaxError } from './template-error.ts';
export { textFunction } from './template-function.ts';
export type { TemplateCall, TemplateEnvironment, TemplateFunction, TemplateParameter } from './template-function.ts';
export { GoFloat } from './value.ts';
export type { TemplateValue } from './value.ts';
