/**
 * C++: what C has, and more. Headers named `.h` are read as C++ first, for that is the larger language, and as C when C++ refuses them.
 */
import type { Language } from '../src/syntax/language.js'
import { language as c, shared } from './c.js'

const declarations = [
  'class_specifier',
  'template_declaration',
  'namespace_definition',
  'namespace_alias_definition',
  'alias_declaration',
  'using_declaration',
  'concept_definition',
  'friend_declaration',
  'template_instantiation',
  'static_assert_declaration',
]

export const language: Language = {
  name: 'cpp',
  extensions: ['.cpp', '.cc', '.cxx', '.c++', '.hpp', '.hh', '.hxx', '.h++', '.ipp', '.h'],
  sources: [
    {
      package: 'tree-sitter-wasms',
      file: 'out/tree-sitter-cpp.wasm',
      sha256: 'f6afdf53bfd6de76557bb7edb624a3a3869e14d9a83b78433f93617ecee42527',
      baseline: true,
    },
    ...c.sources,
  ],
  sample: 'struct a { int b; };\n\nint f(int x) {\n  return x ? g() : 1;\n}\n',
  opens: [
    ...shared.declarations,
    ...declarations,
    ...shared.opens,
    'for_range_loop',
    'try_statement',
    'throw_statement',
    'co_return_statement',
    'co_yield_statement',
    'lambda_expression',
    'new_expression',
    'delete_expression',
    'optional_parameter_declaration',
    'field_initializer',
    'fold_expression',
    'requires_expression',
    'raw_string_literal',
  ],
  opensAmongSiblings: ['compound_statement'],
  // The body of a function may be a `try`, and is no construct of its own then.
  isConstruct: (node) => node.type !== 'try_statement' || node.parent?.type !== 'function_definition',
  containers: shared.containers,
  clauses: [...shared.clauses, 'catch_clause', 'base_class_clause', 'field_initializer_list', 'requires_clause'],
  closers: ['#endif'],
  comments: ['comment'],
  isDocComment: shared.isDocComment,
  attached: ['attribute_declaration'],
  declarations: [...shared.declarations, ...declarations],
}
