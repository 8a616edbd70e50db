"""The SQL functions that a statement may call, by dialect. All others are refused: a list of forbidden
names would miss functions of extensions, of the operator, and of the next version.

A listed function computes a value from its arguments. It reads no file, setting, catalogue or large
object, runs no text as a statement, changes nothing, waits for nothing and opens no connection.
"""

_COMMON = """
    abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos
    cosh count cume_dist current_date current_time current_timestamp date degrees dense_rank exp
    first_value floor lag last_value lead length ln log log10 log2 lower ltrim max min mod nth_value
    ntile nullif octet_length percent_rank pi pow power radians random rank replace round row_number
    rtrim sign sin sinh sqrt string_agg substr substring sum tan tanh time trim trunc upper
"""

_POSTGRES = """
    abbrev acosd age any_value area array array_agg array_append array_cat array_dims array_fill
    array_length array_lower array_ndims array_position array_positions array_prepend array_remove
    array_replace array_sample array_shuffle array_to_json array_to_string array_to_tsvector
    array_upper ascii asind atan2d atand bit bit_and bit_count bit_length bit_or bit_xor bool
    bool_and bool_or box bpchar btrim cardinality cast cbrt center char_length character_length chr
    cidr circle clock_timestamp convert_from convert_to corr cosd cot cotd covar_pop covar_samp cube
    current_database current_schema date_add date_bin date_part date_subtract date_trunc
    datemultirange daterange decode diagonal diameter difference div encode enum_first enum_last
    enum_range erf erfc every extract factorial family float float4 float8 format gcd
    gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest grouping height
    host hostmask inet_merge inet_same_family initcap int2 int4 int4multirange int4range int8
    int8multirange int8range interval is_normalized isclosed isempty isfinite ishorizontal isopen
    isvertical json json_agg json_array json_array_elements json_array_elements_text
    json_array_length json_arrayagg json_build_array json_build_object json_each json_each_text
    json_exists json_extract_path json_extract_path_text json_object json_object_agg
    json_object_keys json_objectagg json_query json_scalar json_serialize json_strip_nulls
    json_to_record json_to_recordset json_typeof json_value jsonb jsonb_agg jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat
    jsonb_each jsonb_each_text jsonb_exists jsonb_extract_path jsonb_extract_path_text jsonb_insert
    jsonb_object jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz
    jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
    jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz
    jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
    jsonb_typeof justify_days justify_hours justify_interval lcm least left levenshtein line
    localtime localtimestamp lower_inc lower_inf lpad lseg macaddr make_date make_interval make_time
    make_timestamp make_timestamptz masklen md5 metaphone min_scale mode money multirange name
    netmask network normalize now npoints num_nonnulls num_nulls numeric nummultirange numnode
    numrange oid overlaps overlay parse_ident path percentile_cont percentile_disc phraseto_tsquery
    plainto_tsquery point polygon position querytree quote_ident quote_literal quote_nullable radius
    random_normal range_agg range_intersect_agg range_merge regexp_count regexp_instr regexp_like
    regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy repeat reverse right rollup row row_to_json rpad scale set_bit set_byte setweight
    sha224 sha256 sha384 sha512 similarity sind slope soundex split_part starts_with
    statement_timestamp stddev stddev_pop stddev_samp strict_word_similarity string_to_array
    string_to_table strip strpos tand text timeofday timestamp timestamptz timetz timezone to_ascii
    to_char to_date to_hex to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector
    transaction_timestamp translate trim_array trim_scale ts_delete ts_filter ts_headline ts_rank
    ts_rank_cd tsmultirange tsrange tstzmultirange tstzrange tsvector_to_array unaccent unistr
    unnest upper_inc upper_inf var_pop var_samp varbit varchar variance version websearch_to_tsquery
    width width_bucket word_similarity
    pg_size_pretty pg_typeof
"""

_SQLITE = """
    cast datetime format glob group_concat hex ifnull iif instr json json_array json_array_length
    json_each json_extract json_group_array json_group_object json_insert json_object json_patch
    json_quote json_remove json_replace json_set json_tree json_type json_valid julianday like
    likelihood likely median percentile printf quote soundex strftime timediff total typeof unhex
    unicode unixepoch unlikely
    bm25 highlight match snippet
    -> ->>
"""

_DUCKDB = """
    add age ago aggregate any_value apply approx_count_distinct approx_quantile approx_top_k
    arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax
    argmin array_agg array_aggr array_aggregate array_append array_apply array_cat array_concat
    array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
    array_distinct array_dot_product array_extract array_filter array_grade_up array_has
    array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
    array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
    array_position array_prepend array_push_back array_push_front array_reduce array_resize
    array_reverse array_reverse_sort array_select array_slice array_sort array_to_json
    array_to_string array_to_string_comma_default array_transform array_unique array_value
    array_where array_zip ascii bar base64 bin bit_and bit_count bit_length bit_or bit_position
    bit_xor bitstring bitstring_agg bool_and bool_or cardinality cbrt century char_length
    character_length chr constant_or_null contains corr cot count_if count_star countif covar_pop
    covar_samp current_localtime current_localtimestamp damerau_levenshtein date_add date_diff
    date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear days_in_month decade decode divide editdist3 element_at encode ends_with
    entropy enum_code enum_first enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns
    epoch_us equi_width_bins era even factorial favg fdiv filter first flatten fmod format
    format_bytes formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex
    from_json from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts
    geomean geometric_mean get_bit get_current_time get_current_timestamp grade_up greatest
    greatest_common_divisor group_concat grouping grouping_id hamming hash hex histogram
    histogram_exact histogram_values hour if ifnull instr is_histogram_other_bin isfinite isinf
    isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array
    json_array_length json_contains json_deep_merge json_each json_exists json_extract
    json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object
    json_group_structure json_insert json_keys json_merge_patch json_object json_pretty json_quote
    json_remove json_replace json_set json_strip_nulls json_structure json_transform
    json_transform_strict json_tree json_type json_valid json_value julian kahan_sum kurtosis
    kurtosis_pop last last_day lcase lcm least least_common_multiple left left_grapheme len
    length_grapheme levenshtein lgamma list list_aggr list_aggregate list_any_value list_append
    list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor
    list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance
    list_cosine_similarity list_count list_distance list_distinct list_dot_product list_element
    list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all
    list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
    list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode
    list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend
    list_product list_reduce list_resize list_reverse list_reverse_sort list_select list_sem
    list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
    list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip listagg
    lpad lttb mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
    make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries
    map_extract map_extract_value map_from_entries map_keys map_values max_by md5 md5_number
    md5_number_lower md5_number_upper mean median microsecond millennium millisecond min_by minute
    mismatches mode month monthname multiply nanosecond nextafter nfc_normalize normalized_interval
    now ord overlay parse_dirname parse_dirpath parse_filename parse_path percentile_cont
    percentile_disc pg_size_pretty pg_typeof position prefix printf product quantile quantile_cont
    quantile_disc quarter range reduce regexp_escape regexp_extract regexp_extract_all
    regexp_full_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    repeat reservoir_quantile reverse right right_grapheme round_even roundbankers row row_to_json
    rpad second sem set_bit sha1 sha256 signbit skewness split split_part starts_with stddev
    stddev_pop stddev_samp str_split str_split_regex strftime string_split string_split_regex
    string_to_array strip_accents strlen strpos strptime struct_concat struct_contains
    struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys
    struct_pack struct_position struct_update struct_values substring_grapheme subtract suffix
    sum_no_overflow sumkahan switch time_bucket timezone timezone_hour timezone_minute to_base
    to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds
    to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks
    to_years today transaction_timestamp translate try_strptime typeof ucase unbin unhex unicode
    union_extract union_tag union_value unnest url_decode url_encode uuid
    uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 var_pop var_samp variance wavg week
    weekday weekofyear weighted_avg xor year yearweek
    ilike_escape like_escape not_ilike_escape not_like_escape
"""

ALLOWED = {
    "postgres": frozenset((_COMMON + _POSTGRES).split()),
    "sqlite": frozenset((_COMMON + _SQLITE).split()),
    "duckdb": frozenset((_COMMON + _DUCKDB).split()),
}
