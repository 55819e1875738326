/**
 * TypeScript: what JavaScript has, declarations of types, and decorators that stand beside the members of a class.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'
import { shared } from './javascript.js'

const declarations = [
  'abstract_class_declaration',
  'interface_declaration',
  'type_alias_declaration',
  'enum_declaration',
  'ambient_declaration',
  'function_signature',
  'import_alias',
  'public_field_definition',
  'abstract_method_signature',
  'method_signature',
  'property_signature',
  'call_signature',
  'construct_signature',
  'index_signature',
  'enum_assignment',
]

/** Types open like expressions do, where they begin a line. A union does not: it is a list of alternatives. */
const types = [
  'object_type',
  'function_type',
  'constructor_type',
  'conditional_type',
  'generic_type',
  'tuple_type',
  'array_type',
  'lookup_type',
  'parenthesized_type',
  'readonly_type',
  'template_literal_type',
  'type_parameter',
]

/**
 * `import('a').B<C>` as a type, which compilers write into declaration files, is more than the grammar knows: to it a name of the same length stands there.
 */
export function withPlainImports(text: string): string {
  return text.replace(/\bimport\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*\)(?=\.)/g, (type) => 'i'.repeat(type.length))
}

const grammar = {
  package: 'tree-sitter-typescript',
  file: 'tree-sitter-typescript.wasm',
  sha256: '778025db5a8be0e70f8ccc3671e486dfeddd048c25d9e8a70c26de2e1bf6f97d',
}

export const language: Language = {
  name: 'typescript',
  extensions: ['.ts', '.mts', '.cts'],
  interpreters: ['deno', 'ts-node', 'tsx'],
  sources: [grammar, { ...grammar, rewrite: withPlainImports }],
  sample: 'abstract class A<T> {\n  @d() private a: T = <T>b\n}\n',
  opens: [
    ...shared.opens,
    ...declarations,
    ...types,
    'internal_module',
    'module',
    'required_parameter',
    'optional_parameter',
    'as_expression',
    'satisfies_expression',
    'non_null_expression',
    'instantiation_expression',
    'type_assertion',
  ],
  opensAmongSiblings: shared.opensAmongSiblings,
  isConstruct: shared.isConstruct,
  containers: [
    ...shared.containers,
    'interface_body',
    'enum_body',
    'object_type',
    'tuple_type',
    'type_arguments',
    'type_parameters',
  ],
  clauses: [...shared.clauses, 'extends_clause', 'implements_clause', 'extends_type_clause', 'type_annotation'],
  comments: shared.comments,
  isDocComment: shared.isDocComment,
  attached: shared.attached,
  declarations: [...shared.declarations, ...declarations, 'property_identifier'],
  isDeclaration: (node: SyntaxNode): boolean => {
    // A member of an enum without a value is a bare name.
    if (node.type === 'property_identifier') return node.parent?.type === 'enum_body'
    // A namespace stands in an expression statement.
    if (node.firstNamedChild?.type === 'internal_module') return true
    return shared.isDeclaration(node)
  },
}
